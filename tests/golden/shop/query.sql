-- The generated shop: the same events live, paced, and as a batch, where those of phones that were offline have their
-- windows too. A column may be NOT NULL where no value is.
CREATE TABLE events (
  event_type STRING,
  event_time TIMESTAMP(3) NOT NULL,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>,
  WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND
) WITH ('connector' = 'shop', 'number-of-rows' = '3000', 'seed' = '11', 'start' = '2030-01-01 00:00:00', 'rows-per-second' = '1000000');
SELECT window_start, window_end, event_type, COUNT(*) AS events, COUNT(payload.product_id) AS products,
  SUM(payload.quantity) AS pieces, SUM(payload.total_amount) AS amount
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(event_time), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, event_type;
SELECT COUNT(*) AS events FROM events;
