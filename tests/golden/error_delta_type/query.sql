CREATE TABLE orders (id BIGINT, day STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT, at ROW<hour TIME>) WITH ('connector' = 'delta', 'table-path' = 'out/sink');
INSERT INTO sink SELECT id, ROW(CAST('10:00:00' AS TIME)) FROM orders;
