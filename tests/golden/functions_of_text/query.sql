-- Flink's REGEXP_REPLACE replaces all, SUBSTR counts a negative start from the end, SIMILAR TO has SQL wildcards.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT REGEXP_REPLACE(category, 'o', '0') AS r, SUBSTR(category, -3, 2) AS s, category SIMILAR TO 'b%' AS m FROM orders WHERE category = 'books';
