-- A header, quotes around a delimiter and a line end, a field that is not asked for, and empty fields that are NULL.
CREATE TABLE orders (
  id BIGINT,
  category STRING,
  note STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = 'orders.csv',
  'format' = 'csv',
  'csv.ignore-first-line' = 'true',
  'csv.null-literal' = ''
);
SELECT window_start, category, COUNT(*) AS orders, COUNT(amount) AS paid, SUM(amount) AS revenue, MAX(note) AS note
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
