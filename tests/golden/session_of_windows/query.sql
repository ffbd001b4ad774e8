-- Sessions of the minutes that had orders, and hours of those sessions: a minute whose last moment is the very end of a
-- session goes on with it.
CREATE TABLE orders (
  shop STRING,
  amount INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE VIEW minutes AS
SELECT shop, SUM(amount) AS amount, window_time AS minute_time
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, window_time, shop;
CREATE VIEW busy AS
SELECT shop, window_start AS began, window_end AS ended, window_time AS busy_time, COUNT(*) AS minutes, SUM(amount) AS amount
FROM TABLE(SESSION(TABLE minutes PARTITION BY shop, DESCRIPTOR(minute_time), INTERVAL '2' MINUTE))
GROUP BY window_start, window_end, window_time, shop;
SELECT 'session' AS what, shop, began, ended, minutes, amount FROM busy;
SELECT 'ten minutes' AS what, window_start, window_end, COUNT(*) AS sessions, SUM(amount) AS amount
FROM TABLE(TUMBLE(TABLE busy, DESCRIPTOR(busy_time), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
