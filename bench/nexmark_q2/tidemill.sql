-- Nexmark's query 2: bids on some auctions.
CREATE TABLE events (
  event_type INT,
  bid        ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP(3),
    extra STRING>,
  dateTime   TIMESTAMP(3),
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'events.num' = '$events');

CREATE TABLE results (
  auction BIGINT,
  price   BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT bid.auction, bid.price FROM events WHERE event_type = 2 AND MOD(bid.auction, 123) = 0;
