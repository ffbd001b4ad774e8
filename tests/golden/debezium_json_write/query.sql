-- Queries that update their result, in files: each line is a row that comes ("c") or goes ("d"). The fourth row changes the
-- window [10:00, 10:01), which has fired: 1.00 goes, and 1.50 comes.
SET 'table.exec.emit.allow-lateness' = '1 min';
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE totals (category STRING, orders BIGINT, revenue DECIMAL(38, 2))
WITH ('connector' = 'filesystem', 'path' = 'out/totals', 'format' = 'debezium-json');
CREATE TABLE best (place BIGINT, category STRING, revenue DECIMAL(38, 2)) WITH (
  'connector' = 'filesystem',
  'path' = 'out/best',
  'format' = 'debezium-json',
  'debezium-json.encode.decimal-as-plain-number' = 'true'
);
CREATE TABLE per_minute (window_start TIMESTAMP(3), category STRING, revenue DECIMAL(38, 2))
PARTITIONED BY (category)
WITH (
  'connector' = 'filesystem',
  'path' = 'out/per_minute',
  'format' = 'debezium-json',
  'debezium-json.timestamp-format.standard' = 'ISO-8601'
);
INSERT INTO totals SELECT category, COUNT(*), SUM(amount) FROM orders GROUP BY category;
INSERT INTO best SELECT rn, category, revenue FROM (
  SELECT *, ROW_NUMBER() OVER (ORDER BY revenue DESC) AS rn FROM (
    SELECT category, SUM(amount) AS revenue FROM orders GROUP BY category))
WHERE rn < 3;
INSERT INTO per_minute SELECT window_start, category, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
