-- An offset moves every window; a negative one, and one longer than the window, too.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT 'plus' AS shift, window_start, window_end, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '15' MINUTE))
GROUP BY window_start, window_end;
SELECT 'minus' AS shift, window_start, window_end, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '-15' MINUTE))
GROUP BY window_start, window_end;
SELECT 'longer' AS shift, window_start, window_end, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '75' MINUTE))
GROUP BY window_start, window_end;
SELECT 'named' AS shift, window_start, window_end, COUNT(*) AS orders
FROM TABLE(TUMBLE(DATA => TABLE orders, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOUR, `OFFSET` => INTERVAL '15' MINUTE))
GROUP BY window_start, window_end;
