-- A ROW that one statement reads whole has all of its fields for the others too.
CREATE TABLE events (
  ts TIMESTAMP(3),
  payload ROW<product STRING, quantity INT, place ROW<city STRING, zip STRING>>,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
CREATE VIEW sold AS SELECT ts, payload.product AS product, payload.quantity AS quantity FROM events;
CREATE TABLE cities (city STRING, zip STRING) WITH ('connector' = 'filesystem', 'path' = 'out/cities', 'format' = 'json');
CREATE TABLE products (window_start TIMESTAMP(3), product STRING, quantity INT) WITH ('connector' = 'filesystem', 'path' = 'out/products', 'format' = 'json');
CREATE TABLE places (place ROW<city STRING, zip STRING>) WITH ('connector' = 'filesystem', 'path' = 'out/places', 'format' = 'json');
INSERT INTO cities SELECT payload.place.city, payload.place.zip FROM events WHERE payload.quantity > 1;
INSERT INTO products
SELECT window_start, product, SUM(quantity)
FROM TABLE(TUMBLE(TABLE sold, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, product;
INSERT INTO places SELECT payload.place FROM events WHERE payload IS NOT NULL;
