-- Of the toys' amounts 1, 5, 3, 8 and 5 the mean is 4.4 and the squared distances are 27.2. The type is that of AVG:
-- a DECIMAL has six digits, an INT none. The sample of one value has no variance.
CREATE TABLE orders (
  id INT,
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT window_start, category,
  VAR_POP(amount) AS var_pop, VAR_SAMP(amount) AS var_samp, VARIANCE(amount) AS var,
  STDDEV_POP(amount) AS stddev_pop, STDDEV_SAMP(amount) AS stddev_samp, STDDEV(amount) AS stddev,
  VAR_POP(id) AS var_ids, STDDEV_POP(1 * CAST(amount AS DOUBLE)) AS stddev_double,
  VAR_POP(DISTINCT amount) AS var_distinct,
  VAR_POP(CAST(amount AS DOUBLE) + 1000000000) AS var_far_from_zero
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
