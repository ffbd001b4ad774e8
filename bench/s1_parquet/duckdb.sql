-- How many events there are of each category in each minute, and for how much.
COPY (
  SELECT
    time_bucket(INTERVAL '1 minute', event_time) AS window_start, payload.category,
    count(*), sum(payload.total_amount)
  FROM read_parquet('$data/parquet/*/*')
  GROUP BY ALL
) TO 'out/amounts.csv' (HEADER false);
