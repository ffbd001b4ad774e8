CREATE TABLE numbers (n INT) WITH ('connector' = 'filesystem', 'path' = 'numbers.jsonl', 'format' = 'json');
SELECT n FROM numbers WHERE n < 5
INTERSECT ALL
SELECT n FROM numbers WHERE n > 2;
