-- Rows of one order go by the place of their item; the hopping window shares panes.
CREATE TABLE orders (
  id INT,
  ts TIMESTAMP(3),
  items ARRAY<ROW<sku STRING, n INT>>,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT window_start, sku, FIRST_VALUE(n) AS first_n, LAST_VALUE(n) AS last_n, ARRAY_AGG(n) AS ns
FROM TABLE(HOP((
  SELECT ts, sku, n FROM orders, UNNEST(items) WHERE id <> 7
), DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, sku;
