-- golden: no live, no reconcile: a live run can't overwrite
CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (day STRING, revenue DECIMAL(38, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'json');
INSERT OVERWRITE sink SELECT day, SUM(amount) FROM orders GROUP BY day;
