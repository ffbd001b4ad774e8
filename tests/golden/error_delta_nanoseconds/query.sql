CREATE TABLE orders (id BIGINT, day STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT, at TIMESTAMP(9)) WITH ('connector' = 'delta', 'table-path' = 'out/sink');
INSERT INTO sink SELECT id, CAST('2026-03-01 10:00:00' AS TIMESTAMP(9)) FROM orders;
