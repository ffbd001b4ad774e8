-- Nexmark's query 12, by event time where the original takes processing time: how many bids each bidder makes in ten
-- seconds.
CREATE TABLE events (
  event_type INT,
  bid        ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP(3),
    extra STRING>,
  dateTime   TIMESTAMP(3),
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'events.num' = '$events');

CREATE TABLE results (
  bidder    BIGINT,
  bid_count BIGINT,
  starttime TIMESTAMP(3),
  endtime   TIMESTAMP(3)
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT bid.bidder, COUNT(*), window_start, window_end
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))
WHERE event_type = 2
GROUP BY bid.bidder, window_start, window_end;
