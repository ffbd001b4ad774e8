CREATE TABLE orders (id BIGINT, day STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sink (id BIGINT) WITH ('connector' = 'delta', 'table-path' = 'out/sink');
INSERT INTO orders SELECT id, 'a', 1.0 FROM sink;
