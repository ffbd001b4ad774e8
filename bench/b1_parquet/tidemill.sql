-- What a shop asks every morning: revenue, orders and users of each day, how far users get, and the top products.
CREATE TABLE events (
  event_id   BIGINT,
  event_type STRING,
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>,
  WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/parquet', 'format' = 'parquet');

CREATE TABLE revenue (
  window_start TIMESTAMP(3),
  revenue      DECIMAL(38, 2),
  orders       BIGINT
) WITH (
  'connector' = 'filesystem', 'path' = 'out/revenue', 'format' = 'csv',
  'csv.write-bigdecimal-in-scientific-notation' = 'false'
);

CREATE TABLE users (
  window_start TIMESTAMP(3),
  users        BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/users', 'format' = 'csv');

CREATE TABLE funnel (
  viewed  BIGINT,
  carted  BIGINT,
  ordered BIGINT,
  paid    BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/funnel', 'format' = 'csv');

CREATE TABLE most_viewed (
  product_id STRING,
  views      BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/most_viewed', 'format' = 'csv');

CREATE TABLE most_sold (
  product_id STRING,
  revenue    DECIMAL(38, 2)
) WITH (
  'connector' = 'filesystem', 'path' = 'out/most_sold', 'format' = 'csv',
  'csv.write-bigdecimal-in-scientific-notation' = 'false'
);

CREATE VIEW payments AS
SELECT event_time, payload.product_id AS product_id, payload.total_amount AS total_amount
FROM events WHERE event_type = 'payment.completed';

INSERT INTO revenue
SELECT window_start, SUM(total_amount), COUNT(*)
FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(event_time), INTERVAL '1' DAY))
GROUP BY window_start, window_end;

INSERT INTO users
SELECT window_start, COUNT(DISTINCT user_id)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(event_time), INTERVAL '1' DAY))
GROUP BY window_start, window_end;

-- By the first time of each.
INSERT INTO funnel
SELECT
  COUNT(viewed),
  COUNT(*) FILTER (WHERE carted > viewed),
  COUNT(*) FILTER (WHERE carted > viewed AND ordered > carted),
  COUNT(*) FILTER (WHERE carted > viewed AND ordered > carted AND paid > ordered)
FROM (
  SELECT
    MIN(event_time) FILTER (WHERE event_type = 'product.viewed') AS viewed,
    MIN(event_time) FILTER (WHERE event_type = 'cart.updated') AS carted,
    MIN(event_time) FILTER (WHERE event_type = 'order.placed') AS ordered,
    MIN(event_time) FILTER (WHERE event_type = 'payment.completed') AS paid
  FROM events
  GROUP BY user_id
);

INSERT INTO most_viewed
SELECT product_id, views FROM (
  SELECT payload.product_id AS product_id, COUNT(*) AS views
  FROM events WHERE event_type = 'product.viewed'
  GROUP BY payload.product_id)
ORDER BY views DESC, product_id
LIMIT 100;

INSERT INTO most_sold
SELECT product_id, revenue FROM (
  SELECT product_id, SUM(total_amount) AS revenue FROM payments GROUP BY product_id)
ORDER BY revenue DESC, product_id
LIMIT 100;
