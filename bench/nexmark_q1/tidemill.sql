-- Nexmark's query 1: prices in euros.
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
  price   DECIMAL(23, 3),
  at      TIMESTAMP(3),
  extra   STRING
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT bid.auction, bid.bidder, 0.908 * bid.price, bid.dateTime, bid.extra FROM events WHERE event_type = 2;
