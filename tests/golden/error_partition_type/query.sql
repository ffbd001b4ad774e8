CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT, amount DECIMAL(10, 2)) PARTITIONED BY (amount) WITH (
  'connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'json');
INSERT INTO sink SELECT id, amount FROM orders;
