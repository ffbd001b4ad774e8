-- Each row of an item is judged by its order's time and watermark; an order that is late leaves once for each item.
CREATE TABLE orders (
  id INT,
  ts TIMESTAMP(3),
  items ARRAY<ROW<sku STRING, n INT>>,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
CREATE TABLE sold (
  window_start TIMESTAMP(3),
  sku STRING,
  lines BIGINT,
  n INT,
  ids STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/sold', 'format' = 'json');
CREATE TABLE late (
  id INT,
  items ARRAY<ROW<sku STRING, n INT>>,
  window_start TIMESTAMP(3),
  row_watermark TIMESTAMP(3),
  source_offset BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tidemill.late-output.sold' = 'late';
INSERT INTO sold
SELECT window_start, sku, COUNT(*), SUM(n), LISTAGG(CAST(id AS STRING))
FROM TABLE(TUMBLE((
  SELECT o.id, o.ts, i.sku, i.n FROM orders AS o CROSS JOIN UNNEST(o.items) AS i(sku, n)
), DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, sku;
