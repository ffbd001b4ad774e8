CREATE TABLE orders (id BIGINT, day STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT, share DOUBLE) PARTITIONED BY (share) WITH ('connector' = 'delta', 'table-path' = 'out/sink');
INSERT INTO sink SELECT id, 0.5e0 FROM orders;
