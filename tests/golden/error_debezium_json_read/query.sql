CREATE TABLE changes (id BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'in.json', 'format' = 'debezium-json');
SELECT * FROM changes;
