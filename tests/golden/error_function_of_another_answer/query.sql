-- DataFusion has a function of that name, with other patterns.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT DATE_FORMAT(ts, 'yyyy-MM-dd') AS d FROM orders;
