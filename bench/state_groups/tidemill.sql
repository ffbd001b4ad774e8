-- Each account's events, and what it did last: first every account comes once, then one in a hundred from each checkpoint to
-- the next.
SET 'execution.checkpointing.interval' = '$interval s';
SET 'execution.checkpointing.num-retained' = '100';

CREATE TABLE fill (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '$last');

CREATE TABLE changes (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '$rate',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '1000000000000');

-- Few are printed, and none before it has changed.
SELECT account, events, total, last_action
FROM (
  SELECT account, COUNT(*) AS events, SUM(account) AS total, MAX(action) AS last_action
  FROM (
    SELECT id AS account, 'the first visit of account ' || CAST(id AS STRING) AS action FROM fill
    UNION ALL
    SELECT MOD(id * 7919, $keys) AS account, 'visit number ' || CAST(id AS STRING) || ' of them all' AS action FROM changes
  )
  GROUP BY account
)
WHERE events > 1 AND MOD(total, 200) = 0;
