CREATE TABLE events (
  user_id STRING,
  event STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT COUNT(viewed) AS viewed, COUNT(*) FILTER (WHERE carted > viewed) AS carted,
  COUNT(*) FILTER (WHERE carted > viewed AND purchased > carted) AS purchased
FROM (
  SELECT user_id, MIN(ts) FILTER (WHERE event = 'view') AS viewed, MIN(ts) FILTER (WHERE event = 'cart') AS carted,
    MIN(ts) FILTER (WHERE event = 'purchase') AS purchased
  FROM events GROUP BY user_id
);
