-- A row with a NULL time is in no window and moves no watermark. It goes to the late output with the reason
-- no-event-time.
CREATE TABLE orders (
  id INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE totals (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  orders BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/totals', 'format' = 'json');
CREATE TABLE late (
  id INT,
  late_reason STRING,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tidemill.late-output.totals' = 'late';
INSERT INTO totals SELECT window_start, window_end, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
