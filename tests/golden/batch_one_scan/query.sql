-- A batch reads the table once for the statements that fold or pass on its rows, each with its own columns and fields of a
-- ROW. The one that holds all rows reads it by itself.
CREATE TABLE orders (
  id INT,
  item ROW<name STRING, price INT, colour STRING>,
  ts TIMESTAMP(3),
  minutes AS EXTRACT(MINUTE FROM ts),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE spent (
  window_start TIMESTAMP(3),
  price INT
) WITH ('connector' = 'filesystem', 'path' = 'out/spent', 'format' = 'json');
CREATE TABLE colours (
  window_start TIMESTAMP(3),
  colour STRING,
  orders BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/colours', 'format' = 'json');
CREATE TABLE dear (
  id INT,
  item ROW<name STRING, price INT, colour STRING>,
  minutes BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/dear', 'format' = 'json');
CREATE TABLE counted (
  window_start TIMESTAMP(3),
  orders BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/counted', 'format' = 'json');
CREATE TABLE visits (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  names BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/visits', 'format' = 'json');

INSERT INTO spent SELECT window_start, SUM(item.price)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
INSERT INTO colours SELECT window_start, colour, orders FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY orders DESC) AS place FROM (
    SELECT window_start, window_end, item.colour AS colour, COUNT(*) AS orders
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) WHERE item.name <> 'pen'
    GROUP BY window_start, window_end, item.colour))
WHERE place = 1;
INSERT INTO dear SELECT id, item, minutes FROM orders WHERE item.price > 20;
INSERT INTO counted SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
INSERT INTO visits SELECT window_start, window_end, COUNT(DISTINCT item.name)
FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '40' SECOND)) GROUP BY window_start, window_end;
