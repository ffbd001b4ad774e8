-- golden: no batch: over history it is supported
CREATE TABLE numbers (n INT) WITH ('connector' = 'filesystem', 'path' = 'numbers.jsonl', 'format' = 'json');
SELECT n FROM numbers WHERE n < 5
EXCEPT
SELECT n FROM numbers WHERE n > 2;
