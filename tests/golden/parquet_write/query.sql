CREATE TABLE events (
  b BOOLEAN, i INT, l BIGINT, d DOUBLE, m DECIMAL(20, 4), s STRING, day DATE, t TIME,
  ts TIMESTAMP(3), us TIMESTAMP(6), ltz TIMESTAMP_LTZ(3), r ROW<x INT, y STRING>, a ARRAY<BIGINT>, k MAP<STRING, INT>
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
CREATE TABLE sink (
  b BOOLEAN, i INT, l BIGINT NOT NULL, d DOUBLE, m DECIMAL(20, 4), s STRING, day DATE, t TIME,
  ts TIMESTAMP(3), us TIMESTAMP(6), ltz TIMESTAMP_LTZ(3), r ROW<x INT, y STRING>, a ARRAY<BIGINT>, k MAP<STRING, INT>
) WITH ('connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'parquet', 'parquet.compression' = 'ZSTD');
INSERT INTO sink SELECT b, i, l, d, m, s, day, t, ts, us, ltz, r, a, k FROM events;
