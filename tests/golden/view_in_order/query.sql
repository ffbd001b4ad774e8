-- golden: no live: a view over an updated result
-- What a view has in the order of the log, others may read, by way of other views too.
CREATE TABLE clicks (who STRING, page STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
CREATE VIEW paths AS
SELECT who, ARRAY_AGG(page) AS pages, FIRST_VALUE(page) AS came_to, LISTAGG(page, '>') AS path FROM clicks GROUP BY who;
CREATE VIEW starts AS SELECT came_to, COUNT(*) AS visitors FROM paths GROUP BY came_to;
SELECT who, came_to, path, CARDINALITY(pages) AS clicks FROM paths;
SELECT who, page FROM paths CROSS JOIN UNNEST(pages) AS p(page) WHERE who = 'ann';
SELECT came_to, visitors, LISTAGG(came_to) AS again FROM starts GROUP BY came_to, visitors;
