-- Each file is a partition: a row is late by the rows before it in its own file.
CREATE TABLE orders (
  category STRING,
  amount INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
SELECT window_start, category, COUNT(*) AS orders, SUM(amount) AS amount
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
