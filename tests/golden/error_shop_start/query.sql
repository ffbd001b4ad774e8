CREATE TABLE events (event_id BIGINT) WITH ('connector' = 'shop', 'start' = 'monday');
SELECT * FROM events;
