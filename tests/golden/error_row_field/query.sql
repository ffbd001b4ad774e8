CREATE TABLE t (x ARRAY<ROW<name STRING, n INT>>) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT x[1].nam AS y FROM t;
