CREATE TABLE events (id INT, payload STRING)
WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT id, JSON_VALUE(payload, '$.user name') AS name FROM events;
