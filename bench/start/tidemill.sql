-- What it costs to start: ten rows.
CREATE TABLE events (
  event_id   BIGINT,
  event_type STRING,
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>,
  WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/few.json', 'format' = 'json');

SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(event_time), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
