-- The columns of a UNION have Flink's common type: DOUBLE with DECIMAL is a DOUBLE, INT with BIGINT a BIGINT.
CREATE TABLE numbers (d DOUBLE, n INT, b BIGINT, p DECIMAL(4, 2))
  WITH ('connector' = 'filesystem', 'path' = 'numbers.jsonl', 'format' = 'json');
CREATE VIEW v AS
SELECT d AS x, n AS y, p AS z FROM numbers
UNION ALL
SELECT 1.5, b, n FROM numbers
UNION ALL
SELECT p, NULL, 0.125 FROM numbers;
DESCRIBE v;
SELECT * FROM v;
SELECT p AS x FROM numbers UNION SELECT d FROM numbers;
