CREATE TABLE orders (ts TIMESTAMP(3), at TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT ts FROM orders WHERE ts > NOW() - INTERVAL '1' DAY;
