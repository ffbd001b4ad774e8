-- Revenue per category and minute, from a shop's orders.
--
--   tidemill run examples/orders/pipeline.sql            live: a minute is written when the watermark passes its end
--   tidemill run examples/orders/pipeline.sql --batch    the same question over the whole file as history
--   tidemill reconcile examples/orders/pipeline.sql      proves that the two agree, late orders accounted for
--
-- Relative paths start at the folder of this file.

-- Where late orders go. Without this line they are only counted.
SET 'tidemill.late-output.revenue_per_minute' = 'late_orders';

-- The input: one JSON object a line, in the order of arrival.
CREATE TABLE orders (
  order_id   BIGINT,
  category   STRING,
  quantity   INT,
  amount     DECIMAL(10, 2),  -- money is exact: the text 19.90 never becomes a floating-point number
  ordered_at TIMESTAMP(3),    -- event time: when the customer ordered, not when we learned of it
  -- Orders may arrive up to five seconds out of order. When one of 09:01:05 has been read, the
  -- watermark is 09:01:00: the minute before is complete, and what still comes for it is late.
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '5' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = 'orders.jsonl',
  'format' = 'json',
  'json.timestamp-format.standard' = 'ISO-8601'
);

-- The results: a folder that gets a new file of JSON lines with each run.
CREATE TABLE revenue_per_minute (
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  category     STRING,
  orders       BIGINT,
  revenue      DECIMAL(38, 2)
) WITH ('connector' = 'filesystem', 'path' = 'out/revenue_per_minute', 'format' = 'json');

-- The late output: columns of the source by their names, and what Tidemill knows of a late row.
CREATE TABLE late_orders (
  order_id     BIGINT,
  category     STRING,
  amount       DECIMAL(10, 2),
  ordered_at   TIMESTAMP(3),
  window_start TIMESTAMP(3),  -- the window that the order missed,
  window_end   TIMESTAMP(3),  -- NULL where it has no event time
  late_reason  STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/late_orders', 'format' = 'json');

INSERT INTO revenue_per_minute
SELECT window_start, window_end, category, COUNT(*) AS orders, SUM(amount) AS revenue
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
