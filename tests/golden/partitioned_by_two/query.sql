CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) PARTITIONED BY (day, hour) WITH (
  'connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'json', 'sink.rolling-policy.file-size' = '40 b');
INSERT INTO sink SELECT id, day, hour, amount FROM orders;
