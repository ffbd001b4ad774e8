-- JSON of all rows of a group, in the order of event time: NULLs kept or left out, JSON in JSON, a name that comes twice.
CREATE TABLE events (id INT, kind STRING, name STRING, x DECIMAL(4, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT window_start, JSON_ARRAYAGG(id) AS ids, JSON_ARRAYAGG(x NULL ON NULL) AS xs,
  JSON_OBJECTAGG(KEY kind || name VALUE x) AS by_name, JSON_OBJECTAGG(name VALUE x ABSENT ON NULL) AS present,
  JSON_ARRAYAGG(JSON_OBJECT('id' VALUE id, 'x' VALUE x)) FILTER (WHERE kind = 'b') AS objects
FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
SELECT kind, JSON_ARRAYAGG(name) AS names FROM events GROUP BY kind;
