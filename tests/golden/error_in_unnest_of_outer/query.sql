-- golden: no live: a subquery in an expression runs in a batch alone
CREATE TABLE t (a INT, r ROW<a INT, b INT>, arr ARRAY<INT>, s STRING) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT a FROM t WHERE a IN (SELECT x FROM UNNEST(arr) AS u(x));
