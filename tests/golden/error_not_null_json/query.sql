CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT NOT NULL) WITH ('connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'json');
INSERT INTO sink SELECT CASE WHEN id > 2 THEN id END FROM orders;
