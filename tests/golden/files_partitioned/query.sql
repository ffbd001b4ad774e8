CREATE TABLE orders (
  category STRING,
  amount INT,
  ts TIMESTAMP(3),
  channel STRING,
  `day` DATE,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) PARTITIONED BY (`day`, channel) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
SELECT window_start, `day`, channel, COUNT(*) AS orders, SUM(amount) AS amount
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, `day`, channel;
