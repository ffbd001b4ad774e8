SET 'execution.checkpointing.interval' = '5 ms';
SET 'tidemill.late-output.windows' = 'late';
CREATE TABLE events (id BIGINT, user_id BIGINT, category STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'in/*.gz', 'format' = 'json');
CREATE TABLE clicks (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'in/*.parquet', 'format' = 'parquet');
CREATE TABLE passed (id BIGINT, amount DECIMAL(10, 2))
  WITH ('connector' = 'filesystem', 'path' = 'out/passed', 'format' = 'json');
INSERT INTO passed SELECT id, amount FROM events WHERE id % 10 = 0;
CREATE TABLE windows (window_start TIMESTAMP(3), category STRING, events BIGINT, revenue DECIMAL(38, 2), first_id BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/windows', 'format' = 'json');
INSERT INTO windows SELECT window_start, category, count(*), sum(amount), first_value(id)
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, category;
CREATE TABLE late (id BIGINT, window_start TIMESTAMP(3), late_reason STRING)
  WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
CREATE TABLE hops (window_end TIMESTAMP(3), users BIGINT, mean DOUBLE)
  WITH ('connector' = 'filesystem', 'path' = 'out/hops', 'format' = 'json');
INSERT INTO hops SELECT window_end, count(DISTINCT user_id), avg(CAST(amount AS DOUBLE))
  FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end;
CREATE TABLE sessions (window_start TIMESTAMP(3), window_end TIMESTAMP(3), user_id BIGINT, events BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/sessions', 'format' = 'json');
INSERT INTO sessions SELECT window_start, window_end, user_id, count(*)
  FROM TABLE(SESSION(TABLE events PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECOND))
  GROUP BY window_start, window_end, user_id;
CREATE TABLE clicked (window_start TIMESTAMP(3), clicks BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/clicked', 'format' = 'json');
INSERT INTO clicked SELECT window_start, count(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end;
CREATE TABLE totals (user_id BIGINT, events BIGINT, revenue DECIMAL(38, 2), categories BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/totals', 'format' = 'debezium-json');
INSERT INTO totals SELECT user_id, count(*), sum(amount), count(DISTINCT category) FROM events GROUP BY user_id;
CREATE TABLE busy (events BIGINT, users BIGINT, highest DECIMAL(38, 2))
  WITH ('connector' = 'filesystem', 'path' = 'out/busy', 'format' = 'debezium-json');
INSERT INTO busy SELECT events, count(*), max(revenue) FROM (
    SELECT user_id, count(*) AS events, sum(amount) AS revenue FROM events GROUP BY user_id)
  GROUP BY events;
CREATE TABLE best (category STRING, id BIGINT, amount DECIMAL(10, 2), place BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/best', 'format' = 'debezium-json');
INSERT INTO best SELECT category, id, amount, place FROM (
    SELECT category, id, amount, ROW_NUMBER() OVER (PARTITION BY category ORDER BY amount DESC, id) AS place FROM events)
  WHERE place <= 3;
