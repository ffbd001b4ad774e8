-- golden: no batch: a batch run takes it
CREATE TABLE orders (id BIGINT, day STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (day STRING, orders BIGINT) WITH ('connector' = 'delta', 'table-path' = 'out/sink');
INSERT INTO sink SELECT day, COUNT(*) FROM orders GROUP BY day;
