-- Tables that take over parts of others: columns, watermark and options; some given anew, some left out.
CREATE TABLE base (
  id INT,
  name STRING,
  at STRING,
  ts AS TO_TIMESTAMP(at, 'yyyy-MM-dd HH:mm:ss'),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = 'a.jsonl', 'format' = 'json');
CREATE TABLE same WITH ('path' = 'b.jsonl') LIKE base;
CREATE TABLE more (
  n INT,
  ts AS TO_TIMESTAMP(at, 'yyyy-MM-dd HH:mm:ss') + INTERVAL '1' HOUR,
  WATERMARK FOR ts AS ts
) WITH ('path' = 'b.jsonl') LIKE base (OVERWRITING GENERATED OVERWRITING WATERMARKS EXCLUDING CONSTRAINTS);
CREATE TABLE bare (PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'filesystem', 'path' = 'out/bare', 'format' = 'json')
LIKE base (EXCLUDING ALL);
CREATE TABLE of_more (double_n AS n * 2) LIKE more (INCLUDING ALL);
DESCRIBE base;
DESCRIBE same;
DESCRIBE more;
DESCRIBE bare;
DESCRIBE of_more;
SHOW CREATE TABLE bare;
INSERT INTO bare SELECT id, name, at FROM same WHERE id > 1;
SELECT window_start, MAX(n) AS n, MAX(double_n) AS double_n
FROM TABLE(TUMBLE(TABLE of_more, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
