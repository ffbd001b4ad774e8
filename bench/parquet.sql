-- Turns the events of the benchmarks into Parquet: each file of lines into one of columns, in the same order.
CREATE TABLE lines_0 (
  event_id   BIGINT,
  event_type STRING,
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>
) WITH ('connector' = 'filesystem', 'path' = 'json/events-0.json', 'format' = 'json');
CREATE TABLE lines_1 (
  event_id   BIGINT,
  event_type STRING,
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>
) WITH ('connector' = 'filesystem', 'path' = 'json/events-1.json', 'format' = 'json');

CREATE TABLE columns_0 (
  event_id   BIGINT,
  event_type STRING,
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>
) WITH (
  'connector' = 'filesystem', 'path' = 'parquet/0', 'format' = 'parquet', 'sink.rolling-policy.file-size' = '100GB'
);
CREATE TABLE columns_1 (
  event_id   BIGINT,
  event_type STRING,
  event_time TIMESTAMP(3),
  user_id    BIGINT,
  payload    ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>
) WITH (
  'connector' = 'filesystem', 'path' = 'parquet/1', 'format' = 'parquet', 'sink.rolling-policy.file-size' = '100GB'
);
INSERT INTO columns_0 SELECT * FROM lines_0;
INSERT INTO columns_1 SELECT * FROM lines_1;
