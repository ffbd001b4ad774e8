-- golden: no live, no reconcile: a live run can't overwrite
CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE whole (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out/whole', 'format' = 'json');
CREATE TABLE by_day (id BIGINT, day STRING) PARTITIONED BY (day) WITH (
  'connector' = 'filesystem', 'path' = 'out/by_day', 'format' = 'json');
INSERT OVERWRITE whole SELECT id FROM orders WHERE id > 100;
INSERT OVERWRITE by_day SELECT id, day FROM orders WHERE id > 100;
