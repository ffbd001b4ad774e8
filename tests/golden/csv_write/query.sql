-- What is written is in quotes where it must be; decimals are as Flink writes them.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE revenue (
  window_start TIMESTAMP(3),
  category STRING,
  total DECIMAL(38, 2),
  share DOUBLE,
  large BOOLEAN
) WITH ('connector' = 'filesystem', 'path' = 'out/revenue', 'format' = 'csv', 'csv.null-literal' = 'NULL');
CREATE TABLE late (
  category STRING,
  amount DECIMAL(10, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = 'out/late',
  'format' = 'csv',
  'csv.field-delimiter' = ';',
  'csv.write-bigdecimal-in-scientific-notation' = 'false'
);
SET 'tidemill.late-output.revenue' = 'late';
INSERT INTO revenue
SELECT window_start, category, SUM(amount), AVG(CAST(amount AS DOUBLE)), SUM(amount) > 50
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
