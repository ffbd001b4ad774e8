CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT, day STRING) PARTITIONED BY (day) WITH ('connector' = 'print');
INSERT INTO sink SELECT id, day FROM orders;
