-- A field of a ROW gives its name to the column, in a subquery too; other expressions are named by their position.
CREATE TABLE events (id INT, bid ROW<auction INT, price DECIMAL(6, 2), seller ROW<name STRING>>)
WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT id, bid.auction, e.bid.price, bid.seller.name, e.id + 1 FROM events AS e;
SELECT auction, name FROM (SELECT bid.auction, bid.seller.name FROM events WHERE bid.price > 1) ;
SELECT events.id, bid.price AS cost FROM events;
SELECT bid.auction, COUNT(*) AS bids, MAX(bid.price) FROM events GROUP BY bid.auction;
