CREATE TABLE orders (ts TIMESTAMP(3), at TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT TIMESTAMPDIFF(DAY, ts, at) FROM orders;
