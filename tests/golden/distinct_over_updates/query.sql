CREATE TABLE events (
  user_id STRING,
  event STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT DISTINCT events FROM (SELECT user_id, COUNT(*) AS events FROM events GROUP BY user_id);
