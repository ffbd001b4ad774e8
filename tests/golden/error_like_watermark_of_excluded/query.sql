CREATE TABLE base (
  id INT,
  ts AS TO_TIMESTAMP('2026-11-29 10:00:00'),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
CREATE TABLE t LIKE base (EXCLUDING GENERATED);
SELECT * FROM t;
