-- DISTINCT aggregates in windows that share panes: a value seen in two panes counts once in a window over both, NULLs
-- do not count, a pair counts if neither part is NULL, and 0.0 and -0.0 are one value.
CREATE TABLE visits (
  shop STRING,
  visitor STRING,
  product BIGINT,
  price DECIMAL(10, 2),
  weight DOUBLE,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'visits.jsonl', 'format' = 'json');
SELECT window_start, window_end, shop,
  COUNT(*) AS visits,
  COUNT(DISTINCT visitor) AS visitors,
  COUNT(DISTINCT visitor) FILTER (WHERE price >= 10) AS big_spenders,
  COUNT(DISTINCT visitor, product) AS pairs,
  SUM(DISTINCT product) AS product_sum,
  AVG(DISTINCT price) AS price_avg,
  MAX(DISTINCT price) AS price_max,
  COUNT(DISTINCT weight) AS weights,
  SUM(DISTINCT weight) AS weight_sum
FROM TABLE(HOP(TABLE visits, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE))
GROUP BY window_start, window_end, shop;
