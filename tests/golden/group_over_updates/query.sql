-- How many users have how many events: a user moves from one group to the next.
CREATE TABLE events (
  user_id STRING,
  event STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT events, COUNT(*) AS users, COUNT(user_id) AS named, SUM(amount) AS amount, AVG(amount) AS mean
FROM (SELECT user_id, COUNT(*) AS events, SUM(amount) AS amount FROM events GROUP BY user_id) GROUP BY events;
