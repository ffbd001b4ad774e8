-- On Lord Howe Island clocks are changed by half an hour: 23.5 and 24.5 hours, cumulated in steps of six.
SET 'table.local-time-zone' = 'Australia/Lord_Howe';
CREATE TABLE orders (
  n INT,
  ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, window_time, SUM(n) AS numbers
FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end, window_time;
