-- Late rows are in no list; the batch has them in their places. The hopping window shares panes.
CREATE TABLE orders (
  id INT,
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
CREATE TABLE paths (
  window_start TIMESTAMP(3),
  category STRING,
  first_id INT,
  ids STRING,
  amounts ARRAY<DECIMAL(10, 2)>
) WITH ('connector' = 'filesystem', 'path' = 'out/paths', 'format' = 'json');
CREATE TABLE late (
  id INT,
  ts TIMESTAMP(3),
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  row_watermark TIMESTAMP(3),
  source_partition STRING,
  source_offset BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tidemill.late-output.paths' = 'late';
INSERT INTO paths
SELECT window_start, category, FIRST_VALUE(id), LISTAGG(CAST(id AS STRING)), ARRAY_AGG(amount)
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
