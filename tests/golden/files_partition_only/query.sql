CREATE TABLE orders (category STRING, `day` DATE) PARTITIONED BY (`day`)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
SELECT `day`, COUNT(*) AS orders FROM orders GROUP BY `day`;
