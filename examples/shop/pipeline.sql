-- Three questions about the traffic of a web shop: what is our revenue, what is trending, and how far do visitors get?
--
--   tidemill demo                                     live in the terminal, then reconciled
--   tidemill run examples/shop/pipeline.sql           live, into the folder out/
--   tidemill run examples/shop/pipeline.sql --batch   over the same events as history
--   tidemill reconcile examples/shop/pipeline.sql     proves that the two agree

-- Where orders go that come after their minute was complete.
SET 'tidemill.late-output.revenue_per_minute' = 'late_orders';

-- Generated events, in the order in which they arrive: most within two seconds, some minutes late, a few hours late, as
-- from phones that were offline.
CREATE TABLE events (
  event_id   BIGINT,
  event_type STRING,  -- product.viewed, search.performed, cart.updated, order.placed, payment.completed
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>,
  WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND
) WITH ('connector' = 'shop');  -- also 'number-of-rows', 'rows-per-second', 'seed', 'start'

CREATE VIEW orders AS
SELECT event_time, payload.total_amount AS amount FROM events WHERE event_type = 'order.placed';

CREATE VIEW views AS
SELECT event_time, payload.product_id AS product_id FROM events WHERE event_type = 'product.viewed';

CREATE TABLE revenue_per_minute (
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  orders       BIGINT,
  revenue      DECIMAL(38, 2)
) WITH ('connector' = 'filesystem', 'path' = 'out/revenue_per_minute', 'format' = 'json');

CREATE TABLE trending_products (
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  place        BIGINT,
  product_id   STRING,
  views        BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/trending_products', 'format' = 'json');

CREATE TABLE active_users (
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  users        BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/active_users', 'format' = 'json');

CREATE TABLE funnel (
  viewed  BIGINT,
  carted  BIGINT,
  ordered BIGINT,
  paid    BIGINT
) WITH ('connector' = 'print');

CREATE TABLE late_orders (
  event_id      BIGINT,
  user_id       BIGINT,
  event_time    TIMESTAMP(3),
  window_end    TIMESTAMP(3),  -- of the minute that the order missed
  row_watermark TIMESTAMP(3)   -- how far event time was when it came
) WITH ('connector' = 'filesystem', 'path' = 'out/late_orders', 'format' = 'json');

-- What is our revenue?
INSERT INTO revenue_per_minute
SELECT window_start, window_end, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(event_time), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- What is trending this hour? The ten products that were looked at most since the hour began, every minute.
INSERT INTO trending_products
SELECT window_start, window_end, place, product_id, views FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY views DESC) AS place FROM (
    SELECT window_start, window_end, product_id, COUNT(*) AS views
    FROM TABLE(CUMULATE(TABLE views, DESCRIPTOR(event_time), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, product_id))
WHERE place <= 10;

-- How many users were there in the last five minutes? Every minute.
INSERT INTO active_users
SELECT window_start, window_end, COUNT(DISTINCT user_id)
FROM TABLE(HOP(TABLE events, DESCRIPTOR(event_time), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
GROUP BY window_start, window_end;

-- How far do visitors get? By each user's first view, cart, order and payment, in that order. It has no windows: it is
-- updated with every event, and nothing is late for it.
INSERT INTO funnel
SELECT
  COUNT(viewed),
  COUNT(*) FILTER (WHERE carted > viewed),
  COUNT(*) FILTER (WHERE carted > viewed AND ordered > carted),
  COUNT(*) FILTER (WHERE carted > viewed AND ordered > carted AND paid > ordered)
FROM (
  SELECT
    user_id,
    MIN(event_time) FILTER (WHERE event_type = 'product.viewed') AS viewed,
    MIN(event_time) FILTER (WHERE event_type = 'cart.updated') AS carted,
    MIN(event_time) FILTER (WHERE event_type = 'order.placed') AS ordered,
    MIN(event_time) FILTER (WHERE event_type = 'payment.completed') AS paid
  FROM events
  GROUP BY user_id
);
