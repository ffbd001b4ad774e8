-- golden: no batch: the batch can
CREATE TABLE events (
  user_id STRING,
  event STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT SUM(DISTINCT amount) AS amounts
FROM (SELECT user_id, SUM(amount) AS amount FROM events GROUP BY user_id);
