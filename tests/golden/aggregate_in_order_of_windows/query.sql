-- The rows of a window were made of several: they are ordered by the window's end, and where that is equal by the value.
CREATE TABLE orders (
  id INT,
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT window_start, LAST_VALUE(orders) AS orders_of_last, LISTAGG(category) AS categories
FROM TABLE(TUMBLE((
  SELECT window_time AS closed, category, COUNT(*) AS orders
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end, window_time, category
), DESCRIPTOR(closed), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
