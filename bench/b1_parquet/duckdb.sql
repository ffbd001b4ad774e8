-- What a shop asks every morning: revenue, orders and users of each day, how far users get, and the top products.
CREATE VIEW events AS FROM read_parquet('$data/parquet/*/*');
CREATE VIEW payments AS FROM events WHERE event_type = 'payment.completed';

COPY (
  SELECT date_trunc('day', event_time)::TIMESTAMP AS window_start, sum(payload.total_amount), count(*)
  FROM payments GROUP BY 1
) TO 'out/revenue.csv' (HEADER false);

COPY (
  SELECT date_trunc('day', event_time)::TIMESTAMP AS window_start, count(DISTINCT user_id)
  FROM events GROUP BY 1
) TO 'out/users.csv' (HEADER false);

COPY (
  SELECT
    count(viewed),
    count_if(carted > viewed),
    count_if(carted > viewed AND ordered > carted),
    count_if(carted > viewed AND ordered > carted AND paid > ordered)
  FROM (
    SELECT
      min(event_time) FILTER (event_type = 'product.viewed') AS viewed,
      min(event_time) FILTER (event_type = 'cart.updated') AS carted,
      min(event_time) FILTER (event_type = 'order.placed') AS ordered,
      min(event_time) FILTER (event_type = 'payment.completed') AS paid
    FROM events
    GROUP BY user_id
  )
) TO 'out/funnel.csv' (HEADER false);

COPY (
  SELECT payload.product_id, count(*) AS views
  FROM events WHERE event_type = 'product.viewed'
  GROUP BY 1 ORDER BY views DESC, 1 LIMIT 100
) TO 'out/most_viewed.csv' (HEADER false);

COPY (
  SELECT payload.product_id, sum(payload.total_amount) AS revenue
  FROM payments GROUP BY 1 ORDER BY revenue DESC, 1 LIMIT 100
) TO 'out/most_sold.csv' (HEADER false);
