-- Event time and money are computed; the late output has computed columns too.
SET 'tidemill.late-output.sums' = 'late_sums';
CREATE TABLE orders (
  `Category` STRING,
  price      DECIMAL(10, 2),
  quantity   INT,
  total      AS price * quantity,
  ts         TIMESTAMP(3),
  happened   AS ts - INTERVAL '1' HOUR,
  WATERMARK FOR happened AS happened - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sums (
  window_start TIMESTAMP(3),
  `Category` STRING,
  total DECIMAL(38, 2),
  label AS UPPER(`Category`)
) WITH ('connector' = 'filesystem', 'path' = 'out/sums', 'format' = 'json');
CREATE TABLE late_sums (
  `Category` STRING,
  total DECIMAL(20, 2),
  happened TIMESTAMP(3),
  window_end TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'out/late_sums', 'format' = 'json');
INSERT INTO sums
SELECT window_start, `Category`, SUM(total)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(happened), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, `Category`;
