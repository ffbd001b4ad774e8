CREATE TABLE events (id BIGINT, kind STRING) WITH (
  'connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT, kind STRING) PARTITIONED BY (kind) WITH (
  'connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'json', 'partition.default-name' = 'no kind');
INSERT INTO sink SELECT id, kind FROM events;
