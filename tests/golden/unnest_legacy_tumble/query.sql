-- GROUP BY TUMBLE over a table and what is unnested of it.
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
SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE), sku, COUNT(*), SUM(n), LISTAGG(CAST(id AS STRING))
FROM orders, UNNEST(items) AS i(sku, n)
GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), sku;
