-- golden: no batch, no reconcile: a batch run takes it
CREATE TABLE orders (id BIGINT, day STRING, hour INT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out/sink', 'format' = 'json');
INSERT OVERWRITE sink SELECT id FROM orders;
