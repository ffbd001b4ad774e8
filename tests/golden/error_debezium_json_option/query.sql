-- Flink's default, which would write 0.000000027 as 2.7E-8.
CREATE TABLE numbers (id BIGINT)
WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '3');
CREATE TABLE changes (id BIGINT) WITH (
  'connector' = 'filesystem',
  'path' = 'out',
  'format' = 'debezium-json',
  'debezium-json.encode.decimal-as-plain-number' = 'false'
);
INSERT INTO changes SELECT COUNT(*) FROM numbers;
