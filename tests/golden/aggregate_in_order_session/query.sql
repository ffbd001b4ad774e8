-- In a session the first row is the earliest, not the one that came first.
CREATE TABLE orders (
  id INT,
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT window_start, window_end, category, FIRST_VALUE(id) AS first_id, LAST_VALUE(id) AS last_id,
  LISTAGG(CAST(id AS STRING), '>') AS path
FROM TABLE(SESSION(TABLE orders PARTITION BY category, DESCRIPTOR(ts), INTERVAL '20' SECOND))
GROUP BY window_start, window_end, category;
