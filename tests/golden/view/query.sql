CREATE TABLE orders (
  `Category` STRING,
  price      DECIMAL(10, 2),
  quantity   INT,
  ts         TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE VIEW toys AS SELECT ts AS sold_at, price * quantity AS total FROM orders WHERE `Category` = 'toys';
CREATE TEMPORARY VIEW per_minute (window_start, revenue) COMMENT 'toys a minute' AS
SELECT window_start, SUM(total) FROM TABLE(TUMBLE(TABLE toys, DESCRIPTOR(sold_at), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
CREATE VIEW IF NOT EXISTS per_minute AS SELECT 1 AS never;
SELECT * FROM per_minute WHERE revenue > 1;
SELECT COUNT(*) AS minutes FROM per_minute;
