CREATE TABLE orders (
  category STRING NOT NULL,
  amount   DECIMAL(10, 2),
  total    AS amount + amount,
  ts       TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE VIEW toys AS SELECT amount, ts FROM orders WHERE category = 'toys';
DESCRIBE order;
