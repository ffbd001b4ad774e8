CREATE TABLE orders (ts TIMESTAMP(3), at TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT TIMESTAMPADD(EPOCH, 1, ts) FROM orders;
