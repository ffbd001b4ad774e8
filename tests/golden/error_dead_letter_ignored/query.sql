SET 'tidemill.dead-letter.t' = 'bad';
CREATE TABLE t (a STRING, x INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json', 'json.ignore-parse-errors' = 'true');
CREATE TABLE bad (record STRING) WITH ('connector' = 'print');
SELECT a FROM t;
