-- Users who have one event only, by event: most leave again.
CREATE TABLE events (
  user_id STRING,
  event STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT purchases, COUNT(*) AS users
FROM (SELECT user_id, COUNT(*) FILTER (WHERE event = 'purchase') AS purchases, COUNT(*) AS events FROM events GROUP BY user_id HAVING COUNT(*) < 9)
GROUP BY purchases;
