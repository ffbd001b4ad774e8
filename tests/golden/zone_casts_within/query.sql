-- Instants within an ARRAY, MAP or ROW are cast by Berlin's clocks, as those that stand alone.
SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE moments (
  n INT,
  i TIMESTAMP_LTZ(3),
  l TIMESTAMP(3),
  t STRING
) WITH ('connector' = 'filesystem', 'path' = 'moments.jsonl', 'format' = 'json');
SELECT n, CAST(CAST(l AS TIMESTAMP_LTZ(3)) AS STRING) AS alone, CAST(ARRAY[i] AS ARRAY<STRING>) AS texts,
  CAST(ARRAY[i] AS STRING) AS text, CAST(ROW(n, ARRAY[i]) AS STRING) AS text_of_row,
  CAST(MAP['x', i] AS STRING) AS text_of_map, CAST(ARRAY[i] AS ARRAY<TIMESTAMP(3)>) AS local_times,
  CAST(ARRAY[i] AS ARRAY<DATE>) AS local_days
FROM moments;
SELECT n AS m, CAST(ARRAY[l] AS ARRAY<TIMESTAMP_LTZ(3)>) AS instants,
  CAST(ROW(l) AS ROW<x TIMESTAMP_LTZ(3)>) AS instant_in_row,
  TRY_CAST(ARRAY[t] AS ARRAY<TIMESTAMP_LTZ(3)>) AS instants_of_texts
FROM moments;
