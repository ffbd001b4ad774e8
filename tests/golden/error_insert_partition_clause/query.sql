CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT, day STRING) PARTITIONED BY (day) WITH (
  'connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'json');
INSERT OVERWRITE sink PARTITION (day = '2026-11-29') SELECT id FROM orders;
