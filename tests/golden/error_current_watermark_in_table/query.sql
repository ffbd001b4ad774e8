CREATE TABLE clicks (id INT, ts TIMESTAMP(3), seen AS CURRENT_WATERMARK(ts), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT id, seen FROM clicks;
