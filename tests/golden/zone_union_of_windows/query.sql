-- Windows on two kinds of time, told by the same clock: in this zone they are two hours apart, so no window closes both.
SET 'table.local-time-zone' = 'GMT+02:00';
CREATE TABLE instants (n INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'instants.jsonl', 'format' = 'json');
CREATE TABLE locals (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'locals.jsonl', 'format' = 'json');
SELECT window_start, window_end, SUM(n) AS n FROM (
  SELECT window_start, window_end, SUM(n) AS n FROM TABLE(TUMBLE(TABLE instants, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  GROUP BY window_start, window_end
  UNION ALL
  SELECT window_start, window_end, SUM(n) AS n FROM TABLE(TUMBLE(TABLE locals, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  GROUP BY window_start, window_end)
GROUP BY window_start, window_end;
