-- Nexmark's query 7, without its join: the highest price of each ten seconds.
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
) WITH ('connector' = 'nexmark', 'events.num' = '2000', 'first-event.rate' = '50', 'next-event.rate' = '50');
SELECT window_start, window_end, MAX(bid.price) AS maxprice
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))
WHERE event_type = 2
GROUP BY window_start, window_end;
