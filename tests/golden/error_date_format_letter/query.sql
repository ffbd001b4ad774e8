CREATE TABLE orders (ts TIMESTAMP(3), at TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT DATE_FORMAT(ts, 'YYYY-MM-dd') FROM orders;
