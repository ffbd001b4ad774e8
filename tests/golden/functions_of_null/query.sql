-- Flink's CONCAT, GREATEST and LEAST are NULL if any argument is.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, CONCAT(category, CAST(NULL AS STRING)) AS c, GREATEST(amount, CAST(NULL AS DECIMAL(10, 2))) AS g, LEAST(amount, CAST(NULL AS DECIMAL(10, 2))) AS l FROM orders WHERE category = 'books';
