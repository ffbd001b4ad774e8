-- The ten products with the most events of the last ten minutes, every minute.
CREATE TABLE events (
  event_id   BIGINT,
  event_type STRING,
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>,
  WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/json', 'format' = 'json');

CREATE TABLE trending (
  window_start TIMESTAMP(3),
  place        BIGINT,
  product_id   STRING,
  events       BIGINT
) WITH ('connector' = 'filesystem', 'path' = '$out/trending', 'format' = 'csv');

CREATE VIEW products AS
SELECT event_time, payload.product_id AS product_id FROM events;

INSERT INTO trending
SELECT window_start, place, product_id, events FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY events DESC, product_id) AS place FROM (
    SELECT window_start, window_end, product_id, COUNT(*) AS events
    FROM TABLE(HOP(TABLE products, DESCRIPTOR(event_time), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, product_id))
WHERE place <= 10;
