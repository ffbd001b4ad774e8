-- Nexmark's query 5: the auctions with the most bids of ten seconds, every two seconds; here by Top-N, and one a window.
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
SELECT auction, num, starttime, endtime FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY starttime, endtime ORDER BY num DESC) AS place FROM (
    SELECT bid.auction AS auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
    FROM TABLE(HOP(TABLE events, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    WHERE event_type = 2
    GROUP BY bid.auction, window_start, window_end))
WHERE place <= 1;
