-- ERROR ON ERROR ends the run at the first text that has no answer.
CREATE TABLE events (id INT, payload STRING)
WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT id, JSON_VALUE(payload, '$.user' ERROR ON ERROR) AS name FROM events;
