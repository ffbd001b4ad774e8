-- Without a window the result is updated: its last state is that of the whole log, in the order of event time, file and
-- line. The second statement goes through a view and a filter, which do not read event time.
CREATE TABLE orders (
  id INT,
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT category, FIRST_VALUE(id) AS first_id, LAST_VALUE(id) AS last_id, LISTAGG(CAST(id AS STRING)) AS ids,
  ARRAY_AGG(DISTINCT amount) AS amounts, COUNT(category, amount) AS rows_without_null
FROM orders
GROUP BY category;
SELECT LISTAGG(name, '') AS names, FIRST_VALUE(name) AS first_name FROM (
  SELECT UPPER(category) AS name FROM orders WHERE amount >= 1
) AS named;
