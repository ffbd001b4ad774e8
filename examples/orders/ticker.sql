-- Revenue per category and minute of orders that come through a pipe, printed as each minute is complete.
--
--   tail -f orders.jsonl | tidemill run ticker.sql

CREATE TABLE orders (
  category   STRING,
  amount     DECIMAL(10, 2),
  ordered_at TIMESTAMP(3),
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '5' SECOND
) WITH ('connector' = 'stdio', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');

SELECT window_start, category, COUNT(*) AS orders, SUM(amount) AS revenue
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
