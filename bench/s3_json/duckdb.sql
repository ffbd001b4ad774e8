-- A session ends when its user does nothing for 30 minutes.
COPY (
  WITH after AS (
    SELECT
      user_id, event_time,
      coalesce(event_time - lag(event_time) OVER by_time > INTERVAL '30 minutes', true) AS first
    FROM read_json('$data/json/*.json', format = 'newline_delimited', columns = {
    event_id: 'BIGINT', event_type: 'VARCHAR', event_time: 'TIMESTAMP_MS', user_id: 'BIGINT',
    payload: 'STRUCT(product_id VARCHAR, category VARCHAR, action VARCHAR, quantity INT, total_amount DECIMAL(10, 2))'
  })
    WINDOW by_time AS (PARTITION BY user_id ORDER BY event_time)
  ), numbered AS (
    SELECT user_id, event_time, count_if(first) OVER (PARTITION BY user_id ORDER BY event_time) AS session FROM after
  )
  SELECT user_id, min(event_time), max(event_time) + INTERVAL '30 minutes', count(*)
  FROM numbered
  GROUP BY user_id, session
) TO 'out/sessions.csv' (HEADER false);
