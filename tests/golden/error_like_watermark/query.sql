CREATE TABLE base (
  id INT,
  at TIMESTAMP(3),
  day_of AS CAST(at AS DATE),
  WATERMARK FOR at AS at
) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
CREATE TABLE t (WATERMARK FOR at AS at - INTERVAL '1' SECOND) LIKE base;
SELECT * FROM t;
