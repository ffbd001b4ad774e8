CREATE TABLE base (
  id INT,
  at TIMESTAMP(3),
  day_of AS CAST(at AS DATE),
  WATERMARK FOR at AS at
) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
CREATE TABLE t (id BIGINT) LIKE base;
SELECT * FROM t;
