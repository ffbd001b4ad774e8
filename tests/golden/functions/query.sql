-- Functions, casts and operators over columns: NULLs, signs, an empty text, more than ASCII.
CREATE TABLE items (
  id INT,
  name STRING,
  price DECIMAL(10, 2),
  weight DOUBLE,
  pattern STRING,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'items.jsonl', 'format' = 'json');
SELECT id, UPPER(name) AS upper_name, SUBSTRING(name, 2, 3) AS part, name LIKE pattern AS matches, name LIKE 'K%' AS with_k,
  REGEXP_REPLACE(name, '[aeiou]', '-') AS vowels, COALESCE(name, 'none') AS named, price / 3 AS third,
  price * id AS total, price % 2 AS rest, ROUND(weight, 1) AS rounded, ROUND(price, 1) AS price_1, FLOOR(price) AS whole,
  CAST(weight AS STRING) AS weight_text, CAST(ts AS STRING) AS time_text, CAST(price AS STRING) AS price_text,
  TRY_CAST(name AS INT) AS number, IF(price > 1, 'dear', 'cheap') AS sort, NULLIF(id, 2) AS not_two,
  GREATEST(CAST(id AS DOUBLE), weight) AS greatest, MD5(name) AS hash, LPAD(name, 6, '*') AS padded
FROM items;
