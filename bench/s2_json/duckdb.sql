-- The ten products with the most events of the last ten minutes, every minute.
-- Counts of a minute first: a window adds up ten.
COPY (
  WITH minutes AS (
    SELECT time_bucket(INTERVAL '1 minute', event_time) AS minute, payload.product_id AS product_id, count(*) AS events
    FROM read_json('$data/json/*.json', format = 'newline_delimited', columns = {
    event_id: 'BIGINT', event_type: 'VARCHAR', event_time: 'TIMESTAMP_MS', user_id: 'BIGINT',
    payload: 'STRUCT(product_id VARCHAR, category VARCHAR, action VARCHAR, quantity INT, total_amount DECIMAL(10, 2))'
  })
    GROUP BY ALL
  ), windows AS (
    SELECT minute - to_minutes(ago::INTEGER) AS window_start, product_id, sum(events) AS events
    FROM minutes, range(10) AS back(ago)
    GROUP BY ALL
  )
  SELECT
    window_start, row_number() OVER (PARTITION BY window_start ORDER BY events DESC, product_id) AS place,
    product_id, events
  FROM windows
  QUALIFY place <= 10
) TO 'out/trending.csv' (HEADER false);
