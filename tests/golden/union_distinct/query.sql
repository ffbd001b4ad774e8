-- Each row once.
CREATE TABLE numbers (side STRING, n INT, t STRING)
  WITH ('connector' = 'filesystem', 'path' = 'numbers.jsonl', 'format' = 'json');
SELECT n, t FROM numbers WHERE side = 'a'
UNION
SELECT n, t FROM numbers WHERE side = 'b';
