CREATE TABLE events (id BIGINT, day DATE, ts TIMESTAMP(3), ok BOOLEAN) WITH (
  'connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
CREATE TABLE sink (day DATE, id BIGINT, ts TIMESTAMP(3), ok BOOLEAN) PARTITIONED BY (day, ts, ok) WITH (
  'connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'parquet');
INSERT INTO sink SELECT day, id, ts, ok FROM events;
