-- Nexmark's query 12, by processing time as the original: how many bids each bidder makes in ten seconds.
CREATE TABLE events (
  event_type INT,
  bid        ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP(3),
    extra STRING>
) WITH ('connector' = 'nexmark', 'events.num' = '$events');

CREATE VIEW bids AS
SELECT bid.bidder AS bidder, PROCTIME() AS p_time FROM events WHERE event_type = 2;

CREATE TABLE results (
  bidder    BIGINT,
  bid_count BIGINT,
  starttime TIMESTAMP(3),
  endtime   TIMESTAMP(3)
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT bidder, COUNT(*), window_start, window_end
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(p_time), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end;
