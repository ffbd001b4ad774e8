-- An array within an array: rows go by the place in the outer one, then in the inner one.
CREATE TABLE carts (
  id INT,
  ts TIMESTAMP(3),
  bags ARRAY<ROW<owner STRING, things ARRAY<STRING>>>,
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'carts.jsonl', 'format' = 'json');
SELECT window_start, LISTAGG(owner || ':' || thing) AS things, FIRST_VALUE(thing) AS one, LAST_VALUE(thing) AS last_one
FROM TABLE(TUMBLE((
  SELECT c.ts, b.owner, t.thing FROM carts AS c CROSS JOIN UNNEST(c.bags) AS b CROSS JOIN UNNEST(b.things) AS t(thing)
  UNION ALL
  SELECT ts, 'nobody', 'all of ' || CAST(id AS STRING) FROM carts
), DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
