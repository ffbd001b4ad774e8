-- A statement that reads computed columns alone, and all columns in their order.
CREATE TABLE orders (
  `Category` STRING,
  price      DECIMAL(10, 2),
  quantity   INT,
  total      AS price * quantity,
  ts         TIMESTAMP(3),
  happened   AS ts - INTERVAL '1' HOUR,
  WATERMARK FOR happened AS happened - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT total, happened FROM orders;
SELECT * FROM orders WHERE total > 2;
