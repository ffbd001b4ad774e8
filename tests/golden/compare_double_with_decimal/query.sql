-- As in Flink: a decimal is compared with a DOUBLE or a FLOAT as such a one, decimals with all their digits, and a DATE
-- with a TIMESTAMP as its midnight.
CREATE TABLE numbers (id INT, d DOUBLE, f FLOAT, big DECIMAL(38, 0), `day` DATE, ts TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = 'numbers.jsonl', 'format' = 'json');
SELECT id, d = 0.0 AS zero, d > 1.5 AS above, d IN (0.0, 1.5) AS among, d BETWEEN 0.0 AND 1.5 AS between_them,
  CASE d WHEN 0.0 THEN 'zero' WHEN 1.5 THEN 'more' ELSE 'other' END AS named, NULLIF(d, 0.0) AS not_zero
FROM numbers;
SELECT id, f = 0.5 AS half, f < 1.5 AS below, NULLIF(f, 0.5) AS not_half FROM numbers;
SELECT id, big > 0.5 AS positive, big IN (1.0, 2.5) AS among, NULLIF(big, 1.5) AS big FROM numbers;
SELECT id, `day` = ts AS midnight, `day` > ts AS later, ts BETWEEN `day` AND DATE '9999-12-31' AS between_them FROM numbers;
SELECT id FROM numbers WHERE d > 1.5;
SELECT COUNT(*) FILTER (WHERE d = 0.0) AS zeros, COUNT(*) FILTER (WHERE d > 1.5) AS above FROM numbers;
