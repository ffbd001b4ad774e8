-- Paths into a column of JSON: values that are there, null, of another type and missing; texts that are no JSON.
CREATE TABLE events (id INT, payload STRING)
WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT id, JSON_VALUE(payload, '$.user') AS `user`, JSON_VALUE(payload, '$.amount' RETURNING DOUBLE) AS amount,
  JSON_VALUE(payload, 'lax $.user' DEFAULT 'nobody' ON EMPTY DEFAULT 'broken' ON ERROR) AS named,
  JSON_VALUE(payload, '$.amount' RETURNING INT DEFAULT id * 100 ON ERROR) AS whole,
  JSON_QUERY(payload, '$.items[*].sku') AS skus, JSON_QUERY(payload, '$.items[-1]') AS last_item,
  JSON_EXISTS(payload, '$.items[0]' UNKNOWN ON ERROR) AS has_items, payload IS JSON OBJECT AS is_object,
  JSON_VALUE(payload, '$.items.length()') AS items
FROM events;
SELECT id, JSON_OBJECT('id' VALUE id, 'user' VALUE JSON_VALUE(payload, '$.user') ABSENT ON NULL) AS made,
  JSON_ARRAY(id, JSON_VALUE(payload, '$.note'), JSON_OBJECT('n' VALUE id / 2.0)) AS listed,
  JSON_QUOTE(JSON_VALUE(payload, '$.note')) AS quoted
FROM events;
