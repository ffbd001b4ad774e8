-- Without a time zone of the session, instants within a value are told in UTC.
CREATE TABLE t (ts TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT CAST(ARRAY[ts] AS ARRAY<STRING>) AS texts, CAST(ROW(ts, 1) AS STRING) AS text,
  CAST(ARRAY[ts] AS ARRAY<TIMESTAMP(3)>) AS times
FROM t;
