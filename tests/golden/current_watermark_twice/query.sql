-- Rows that are behind the watermark, with it: the usual form, and one level deeper.
CREATE TABLE clicks (
  id INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT id, CURRENT_WATERMARK(ts) AS w FROM clicks WHERE CURRENT_WATERMARK(ts) >= ts;
SELECT id, w, CURRENT_WATERMARK(ts) AS again FROM (SELECT id, ts, CURRENT_WATERMARK(ts) AS w FROM clicks)
WHERE CURRENT_WATERMARK(ts) IS NOT NULL;
