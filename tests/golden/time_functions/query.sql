-- golden: no reconcile: without windows no row is late
-- Functions of time over columns; a text that shows no time gives NULL, or the least BIGINT.
CREATE TABLE orders (ts TIMESTAMP(3), `day` DATE, clock TIME, at BIGINT, shown STRING, n INT)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT ts, EXTRACT(YEAR FROM ts) AS y, EXTRACT(QUARTER FROM `day`) AS q, MONTH(ts) AS m, WEEK(`day`) AS w, DAYOFMONTH(ts) AS d,
  DAYOFWEEK(ts) AS dow, DAYOFYEAR(`day`) AS doy, HOUR(clock) AS h, MINUTE(ts) AS mi, SECOND(ts) AS s,
  EXTRACT(MILLISECOND FROM ts) AS ms, EXTRACT(EPOCH FROM ts) AS epoch
FROM orders;
SELECT ts, FLOOR(ts TO HOUR) AS hour_begin, CEIL(ts TO MONTH) AS month_end, FLOOR(`day` TO WEEK) AS week_begin,
  CEIL(clock TO MINUTE) AS minute_end, TIMESTAMPADD(MONTH, n, ts) AS months_later, TIMESTAMPADD(DAY, n, `day`) AS days_later,
  TIMESTAMPDIFF(DAY, ts, TIMESTAMP '2024-03-01 00:00:00') AS days, ts + INTERVAL '1' MONTH AS next_month
FROM orders;
SELECT DATE_FORMAT(ts, 'EEE dd MMM yyyy, hh:mm a') AS shown_ts, TO_TIMESTAMP(shown, 'dd.MM.yyyy HH:mm') AS read_ts,
  TO_DATE(shown, 'dd.MM.yyyy HH:mm') AS read_day, TO_TIMESTAMP_LTZ(at, 3) AS instant, FROM_UNIXTIME(at / 1000) AS unix,
  UNIX_TIMESTAMP(shown, 'dd.MM.yyyy HH:mm') AS seconds, CONVERT_TZ(FROM_UNIXTIME(at / 1000), 'UTC', 'Asia/Tokyo') AS tokyo
FROM orders;
