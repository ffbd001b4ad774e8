-- golden: no reconcile: the present time is another in each run
-- All calls are told one moment, and in a batch all rows are.
CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), seen AS CURRENT_DATE >= DATE '2024-02-29')
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE VIEW told AS SELECT *, NOW() AS n FROM orders WHERE CURRENT_TIMESTAMP >= p;
SELECT id, ts < LOCALTIMESTAMP AS past, seen, p <= n AS in_order, NOW() = CURRENT_TIMESTAMP AS one_name,
  NOW() = CURRENT_ROW_TIMESTAMP() AS one_row, UNIX_TIMESTAMP() >= 1700000000 AS seconds,
  CAST(LOCALTIMESTAMP AS DATE) = CURRENT_DATE AS one_day, LOCALTIME = CURRENT_TIME AS one_clock,
  TIMESTAMPDIFF(DAY, CURRENT_DATE, CAST(NOW() AS DATE)) AS days, PROCTIME() IS NULL AS missing
FROM told WHERE NOW() > TO_TIMESTAMP_LTZ(0, 3);
SELECT COUNT(*) AS orders, COUNT(DISTINCT CURRENT_DATE > DATE '2020-01-01') AS answers FROM orders
GROUP BY CURRENT_DATE > DATE '2020-01-01';
