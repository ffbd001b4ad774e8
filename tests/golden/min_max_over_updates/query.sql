CREATE TABLE events (
  user_id STRING,
  event STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT events > 9 AS many, MIN(events) AS least, MAX(events) AS most, MIN(amount) AS poorest, MAX(last) AS last, MAX(user_id) AS name
FROM (SELECT user_id, COUNT(*) AS events, SUM(amount) AS amount, MAX(ts) AS last FROM events GROUP BY user_id) GROUP BY events > 9;
