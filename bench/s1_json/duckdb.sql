-- How many events there are of each category in each minute, and for how much.
COPY (
  SELECT
    time_bucket(INTERVAL '1 minute', event_time) AS window_start, payload.category,
    count(*), sum(payload.total_amount)
  FROM read_json('$data/json/*.json', format = 'newline_delimited', columns = {
    event_id: 'BIGINT', event_type: 'VARCHAR', event_time: 'TIMESTAMP_MS', user_id: 'BIGINT',
    payload: 'STRUCT(product_id VARCHAR, category VARCHAR, action VARCHAR, quantity INT, total_amount DECIMAL(10, 2))'
  })
  GROUP BY ALL
) TO 'out/amounts.csv' (HEADER false);
