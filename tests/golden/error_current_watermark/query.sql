CREATE TABLE clicks (id INT, ts TIMESTAMP(3), seen TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT id FROM clicks WHERE seen > CURRENT_WATERMARK(seen);
