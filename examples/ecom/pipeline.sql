-- Four questions about the clicks of a web shop: who came each day, when, how long they stayed, and how far they got.
--
--   tidemill run examples/ecom/pipeline.sql            live
--   tidemill run examples/ecom/pipeline.sql --batch    over the same file as history
--   tidemill reconcile examples/ecom/pipeline.sql      proves that the two agree

-- Where events go that are late for their hour.
SET 'tidemill.late-output.hourly_events' = 'late_events';

-- The file is sorted by session, so its rows are far out of order: by 177 days at most. With a delay of 180 days
-- nothing is late, and windows are complete at the end of the input.
CREATE TABLE events (
  user_id             STRING,
  session_id          STRING,
  event               STRING,
  event_time          TIMESTAMP(3),
  platform            STRING,
  acquisition_channel STRING,
  user_cohort         STRING,
  user_lifecycle      STRING,
  WATERMARK FOR event_time AS event_time - INTERVAL '180' DAY
) WITH (
  'connector' = 'filesystem',
  'path' = 'events.csv.gz',
  'format' = 'csv',
  'csv.ignore-first-line' = 'true'
);

CREATE TABLE daily_active_users (
  window_start TIMESTAMP(3),
  users        BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/daily_active_users', 'format' = 'csv');

CREATE TABLE hourly_events (
  window_start TIMESTAMP(3),
  platform     STRING,
  events       BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/hourly_events', 'format' = 'csv');

CREATE TABLE sessions (
  user_id      STRING,
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  events       BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/sessions', 'format' = 'csv');

CREATE TABLE late_events (
  user_id       STRING,
  event         STRING,
  event_time    TIMESTAMP(3),
  window_end    TIMESTAMP(3),  -- of the hour that the event missed
  row_watermark TIMESTAMP(3),  -- how far event time was when it came
  source_offset BIGINT         -- its line in the file, from 0
) WITH ('connector' = 'filesystem', 'path' = 'out/late_events', 'format' = 'csv');

-- Daily active users: each user once a day.
INSERT INTO daily_active_users
SELECT window_start, COUNT(DISTINCT user_id)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(event_time), INTERVAL '1' DAY))
GROUP BY window_start, window_end;

-- What happens when, and on what.
INSERT INTO hourly_events
SELECT window_start, platform, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(event_time), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, platform;

-- A session ends when its user does nothing for 30 minutes.
INSERT INTO sessions
SELECT user_id, window_start, window_end, COUNT(*)
FROM TABLE(SESSION(TABLE events PARTITION BY user_id, DESCRIPTOR(event_time), INTERVAL '30' MINUTE))
GROUP BY user_id, window_start, window_end;

-- The funnel: how many users saw a product, then put one into the cart, then bought, by the first time of each. Live it
-- is updated as events come; the last row is the answer.
SELECT
  COUNT(viewed) AS viewed,
  COUNT(*) FILTER (WHERE carted > viewed) AS carted,
  COUNT(*) FILTER (WHERE carted > viewed AND bought > carted) AS bought
FROM (
  SELECT
    user_id,
    MIN(event_time) FILTER (WHERE event = 'product_view') AS viewed,
    MIN(event_time) FILTER (WHERE event = 'add_to_cart') AS carted,
    MIN(event_time) FILTER (WHERE event = 'purchase') AS bought
  FROM events
  GROUP BY user_id
);
