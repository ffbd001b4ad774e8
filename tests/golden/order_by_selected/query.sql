-- golden: no live, no reconcile: a live result has no end to sort at
-- What is ordered by is a column that is selected, though it is written as its expression.
CREATE TABLE events (id INT, bid ROW<auction INT, price DECIMAL(6, 2)>)
WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
SELECT DISTINCT bid.auction FROM events ORDER BY bid.auction DESC;
SELECT DISTINCT id * 0 + 1, bid.auction AS a FROM events ORDER BY id * 0 + 1, bid.auction;
SELECT id AS auction, bid.auction AS id FROM events ORDER BY id DESC, auction;
SELECT bid.auction, SUM(bid.price) FROM events GROUP BY bid.auction ORDER BY SUM(bid.price) DESC LIMIT 1;
