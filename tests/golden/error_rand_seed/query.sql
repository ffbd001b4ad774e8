CREATE TABLE orders (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT RAND(42) AS share FROM orders;
