CREATE TABLE events (event_id BIGINT, event_time TIMESTAMP(3), payload ROW<product_id STRING, total_amount DOUBLE>)
WITH ('connector' = 'shop');
SELECT * FROM events;
