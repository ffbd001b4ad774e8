SET 'execution.checkpointing.interval' = '5 ms';
SET 'table.exec.emit.allow-lateness' = '2 min';
CREATE TABLE events (id BIGINT, user_id BIGINT, category STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'in/*.gz', 'format' = 'json');
CREATE TABLE clicks (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'in/*.parquet', 'format' = 'parquet');
CREATE TABLE windows (window_start TIMESTAMP(3), category STRING, events BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/windows', 'format' = 'debezium-json');
INSERT INTO windows SELECT window_start, category, count(*)
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, category;
CREATE TABLE sessions (window_start TIMESTAMP(3), window_end TIMESTAMP(3), user_id BIGINT, events BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/sessions', 'format' = 'debezium-json');
INSERT INTO sessions SELECT window_start, window_end, user_id, count(*)
  FROM TABLE(SESSION(TABLE events PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECOND))
  GROUP BY window_start, window_end, user_id;
CREATE TABLE clicked (window_end TIMESTAMP(3), clicks BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/clicked', 'format' = 'debezium-json');
INSERT INTO clicked SELECT window_end, count(*) FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
  GROUP BY window_start, window_end;
