-- FIRST_VALUE, LAST_VALUE, LISTAGG and ARRAY_AGG go by event time, then by file and line, whatever the order of arrival:
-- of the toys, order 2 (10:00:05 in a.jsonl) comes before order 9 (10:00:05 in b.jsonl), and 1 before 4, though their
-- amounts are smaller and smaller. NULL is skipped,
-- but not by ARRAY_AGG.
CREATE TABLE orders (
  id INT,
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT window_start, category,
  FIRST_VALUE(id) AS first_id,
  LAST_VALUE(id) AS last_id,
  FIRST_VALUE(amount) AS first_amount,
  LAST_VALUE(amount) AS last_amount,
  LISTAGG(CAST(id AS STRING)) AS ids,
  LISTAGG(DISTINCT CAST(amount AS STRING), ' < ') AS amounts,
  ARRAY_AGG(amount) AS all_amounts,
  ARRAY_AGG(DISTINCT amount) AS distinct_amounts,
  ARRAY_AGG(amount) IGNORE NULLS AS present_amounts,
  LISTAGG(CAST(id AS STRING)) FILTER (WHERE amount > 2) AS dear_ids
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
