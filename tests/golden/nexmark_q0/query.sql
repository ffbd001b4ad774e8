-- Nexmark's query 0: what an event costs that is only passed on. 50 events are one person, 3 auctions and 46 bids.
CREATE TABLE events (
  event_type INT,
  person ROW<id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
    dateTime TIMESTAMP(3), extra STRING>,
  auction ROW<id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
    dateTime TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING>,
  bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP(3),
    extra STRING>,
  dateTime TIMESTAMP(3),
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'events.num' = '50', 'first-event.rate' = '10', 'next-event.rate' = '10');
SELECT bid.auction AS auction, bid.bidder AS bidder, bid.price AS price, bid.dateTime AS at, bid.extra AS extra
FROM events WHERE event_type = 2;
