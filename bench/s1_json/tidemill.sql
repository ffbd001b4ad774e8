-- How many events there are of each category in each minute, and for how much.
CREATE TABLE events (
  event_id   BIGINT,
  event_type STRING,
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>,
  WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/json', 'format' = 'json');

CREATE TABLE amounts (
  window_start TIMESTAMP(3),
  category     STRING,
  events       BIGINT,
  amount       DECIMAL(38, 2)
) WITH (
  'connector' = 'filesystem', 'path' = 'out/amounts', 'format' = 'csv',
  'csv.write-bigdecimal-in-scientific-notation' = 'false'
);

CREATE VIEW parts AS
SELECT event_time, payload.category AS category, payload.total_amount AS total_amount FROM events;

INSERT INTO amounts
SELECT window_start, category, COUNT(*), SUM(total_amount)
FROM TABLE(TUMBLE(TABLE parts, DESCRIPTOR(event_time), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
