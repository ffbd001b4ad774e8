-- A session ends when its user does nothing for 30 minutes.
CREATE TABLE events (
  event_id   BIGINT,
  event_type STRING,
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>,
  WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/parquet', 'format' = 'parquet');

CREATE TABLE sessions (
  user_id      BIGINT,
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  events       BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/sessions', 'format' = 'csv');

INSERT INTO sessions
SELECT user_id, window_start, window_end, COUNT(*)
FROM TABLE(SESSION(TABLE events PARTITION BY user_id, DESCRIPTOR(event_time), INTERVAL '30' MINUTE))
GROUP BY user_id, window_start, window_end;
