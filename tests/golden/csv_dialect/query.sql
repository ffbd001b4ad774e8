-- golden: no reconcile: no row of these tables is late, and rows without windows have nothing to reconcile
CREATE TABLE readings (
  sensor STRING,
  readings ARRAY<INT>,
  place ROW<city STRING, floor INT>,
  broken BOOLEAN,
  day DATE
) WITH (
  'connector' = 'filesystem',
  'path' = 'readings.txt',
  'format' = 'csv',
  'csv.field-delimiter' = '\t',
  'csv.quote-character' = '''',
  'csv.escape-character' = '\',
  'csv.array-element-delimiter' = '|',
  'csv.allow-comments' = 'true',
  'csv.null-literal' = 'n/a'
);
SELECT * FROM readings;
