CREATE TABLE t (id INT) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
CREATE TABLE o (r ROW<a STRING, b INT>) WITH ('connector' = 'print');
INSERT INTO o SELECT ROW(id, id) FROM t;
