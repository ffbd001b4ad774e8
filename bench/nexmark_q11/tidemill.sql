-- Nexmark's query 11: how many bids each bidder makes in a session; ten seconds without a bid end it.
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

CREATE VIEW bids AS
SELECT bid.bidder AS bidder, dateTime FROM events WHERE event_type = 2;

INSERT INTO results
SELECT bidder, COUNT(*), window_start, window_end
FROM TABLE(SESSION(TABLE bids PARTITION BY bidder, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end;
