-- Nexmark's query 7: the highest bid of each ten seconds. By Top-N where the original joins, so one bid a window.
CREATE TABLE events (
  event_type INT,
  bid        ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP(3),
    extra STRING>,
  dateTime   TIMESTAMP(3),
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'events.num' = '$events');

CREATE TABLE results (
  auction  BIGINT,
  bidder   BIGINT,
  price    BIGINT,
  dateTime TIMESTAMP(3),
  extra    STRING
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT auction, bidder, price, dateTime, extra FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS place FROM (
    SELECT bid.auction AS auction, bid.bidder AS bidder, bid.price AS price, dateTime, bid.extra AS extra,
      window_start, window_end
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))
    WHERE event_type = 2))
WHERE place <= 1;
