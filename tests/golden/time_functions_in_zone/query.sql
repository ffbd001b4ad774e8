-- golden: no reconcile: without windows no row is late
-- What is asked of an instant is asked of the clocks in Berlin. On 2024-03-31 they show midnight an hour before UTC's, and
-- the day is 23 hours long.
SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE orders (ts TIMESTAMP(3), `day` DATE, clock TIME, at BIGINT, shown STRING, n INT)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT HOUR(instant) AS h, FLOOR(instant TO DAY) AS day_begin, CEIL(instant TO DAY) AS day_end,
  DATE_FORMAT(instant, 'yyyy-MM-dd HH:mm') AS shown, FROM_UNIXTIME(seconds) AS unix,
  UNIX_TIMESTAMP(FROM_UNIXTIME(seconds)) AS seconds
FROM (SELECT TO_TIMESTAMP_LTZ(at, 3) AS instant, at / 1000 AS seconds FROM orders) AS instants;
