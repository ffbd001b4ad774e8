-- In the path NULL would be __DEFAULT_PARTITION__, which could not be read again.
CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT, day STRING NOT NULL) PARTITIONED BY (day) WITH (
  'connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'json');
INSERT INTO sink SELECT id, CASE WHEN id > 2 THEN day END FROM orders;
