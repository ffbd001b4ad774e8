CREATE TABLE orders (id BIGINT, day STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT) WITH ('connector' = 'delta', 'path' = 'out/sink');
INSERT INTO sink SELECT id FROM orders;
