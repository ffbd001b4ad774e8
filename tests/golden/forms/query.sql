-- Forms of their own over columns: symmetric bounds, several values of a WHEN, PRINTF, INSTR backwards, intervals.
CREATE TABLE items (id INT, name STRING, x INT, low INT, high INT, w DOUBLE, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'items.jsonl', 'format' = 'json');
SELECT id, x BETWEEN SYMMETRIC low AND high AS inside, x NOT BETWEEN ASYMMETRIC low AND high AS outside,
  CASE x WHEN 1, 2 THEN 'few' WHEN 3 THEN 'three' ELSE 'many' END AS counted,
  PRINTF('%03d|%-6s|%8.2f|%+,d', x, name, w, x * 1000) AS printed, INSTR(name, 'o', -1, 2) AS second_last_o,
  FLOOR(ts TO DECADE) AS decade, CEIL(ts TO CENTURY) AS century, FLOOR(ts TO MILLENNIUM) AS millennium,
  ROUND(w * PI, 2) AS area, TRIM(BOTH FROM name) AS trimmed
FROM items;
