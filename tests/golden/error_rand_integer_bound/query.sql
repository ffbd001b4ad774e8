CREATE TABLE orders (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT RAND_INTEGER(CAST(1 - id AS INT)) AS dice FROM orders;
