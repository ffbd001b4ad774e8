CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (day STRING) PARTITIONED BY (day) WITH (
  'connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'json');
INSERT INTO sink SELECT day FROM orders;
