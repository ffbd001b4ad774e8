CREATE TABLE numbers (n INT, t STRING)
  WITH ('connector' = 'filesystem', 'path' = 'numbers.jsonl', 'format' = 'json');
SELECT n FROM numbers
INTERSECT
SELECT t FROM numbers;
