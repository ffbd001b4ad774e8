-- Nexmark's query 5: the auction with the most bids of ten seconds, every two seconds. By Top-N where the original
-- joins, so one auction a window.
CREATE TABLE events (
  event_type INT,
  bid        ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP(3),
    extra STRING>,
  dateTime   TIMESTAMP(3),
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'events.num' = '$events');

CREATE TABLE results (
  auction   BIGINT,
  num       BIGINT,
  starttime TIMESTAMP(3),
  endtime   TIMESTAMP(3)
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT auction, num, starttime, endtime FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY starttime, endtime ORDER BY num DESC) AS place FROM (
    SELECT bid.auction AS auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
    FROM TABLE(HOP(TABLE events, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    WHERE event_type = 2
    GROUP BY bid.auction, window_start, window_end))
WHERE place <= 1;
