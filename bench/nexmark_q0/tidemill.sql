-- Nexmark's query 0: what it costs to pass bids on.
CREATE TABLE events (
  event_type INT,
  bid        ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP(3),
    extra STRING>,
  dateTime   TIMESTAMP(3),
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'events.num' = '$events');

CREATE TABLE results (
  auction BIGINT,
  bidder  BIGINT,
  price   BIGINT,
  at      TIMESTAMP(3),
  extra   STRING
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT bid.auction, bid.bidder, bid.price, bid.dateTime, bid.extra FROM events WHERE event_type = 2;
