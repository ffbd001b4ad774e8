CREATE TABLE events (event_type INT, bid ROW<auction BIGINT, prise BIGINT>) WITH ('connector' = 'nexmark');
SELECT bid.auction FROM events;
