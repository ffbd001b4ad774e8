-- An open session of each account: first every account comes once, then one in a hundred again from each checkpoint to the
-- next.
SET 'execution.checkpointing.interval' = '$interval s';
SET 'execution.checkpointing.num-retained' = '100';

CREATE TABLE fill (id BIGINT, ts AS TO_TIMESTAMP_LTZ(1767225600000, 3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'datagen', 'rows-per-second' = '1000000000',
    'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '$last');

CREATE TABLE changes (id BIGINT, ts AS TO_TIMESTAMP_LTZ(1767225600000 + id, 3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'datagen', 'rows-per-second' = '$rate',
    'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '1000000000000');

CREATE TABLE sessions (account BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), events BIGINT, total BIGINT)
  WITH ('connector' = 'blackhole');

CREATE VIEW visits AS
SELECT id AS account, ts FROM fill
UNION ALL
SELECT MOD(id * 7919, CAST($keys AS BIGINT)) AS account, ts FROM changes;

INSERT INTO sessions
SELECT account, window_start, window_end, COUNT(*), SUM(account)
FROM TABLE(SESSION(TABLE visits PARTITION BY account, DESCRIPTOR(ts), INTERVAL '30' DAY))
GROUP BY account, window_start, window_end;

-- Tells that the job runs.
SELECT id FROM changes WHERE MOD(id, 100) = 0;
