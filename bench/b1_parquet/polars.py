"""What a shop asks every morning: revenue, orders and users of each day, how far users get, and the top products."""

import polars as pl

events = pl.scan_parquet("$data/parquet/*/*")
payload = pl.col("payload").struct
product, amount = payload.field("product_id"), payload.field("total_amount")
payments = events.filter(pl.col("event_type") == "payment.completed")
day = pl.col("event_time").dt.truncate("1d").alias("window_start")


def first(event_type):
    return pl.col("event_time").filter(pl.col("event_type") == event_type).min()


users = events.group_by("user_id").agg(
    viewed=first("product.viewed"),
    carted=first("cart.updated"),
    ordered=first("order.placed"),
    paid=first("payment.completed"),
)
carted = pl.col("carted") > pl.col("viewed")
ordered = carted & (pl.col("ordered") > pl.col("carted"))
paid = ordered & (pl.col("paid") > pl.col("ordered"))
views = events.filter(pl.col("event_type") == "product.viewed")

questions = {
    "revenue": payments.group_by(day).agg(revenue=amount.sum(), orders=pl.len()),
    "users": events.group_by(day).agg(pl.col("user_id").n_unique()),
    "funnel": users.select(pl.count("viewed"), carted=carted.sum(), ordered=ordered.sum(), paid=paid.sum()),
    "most_viewed": views.group_by(product)
    .agg(views=pl.len())
    .sort("views", "product_id", descending=[True, False])
    .head(100),
    "most_sold": payments.group_by(product)
    .agg(revenue=amount.sum())
    .sort("revenue", "product_id", descending=[True, False])
    .head(100),
}
# Together, so that what they have in common is read once.
for name, answer in zip(questions, pl.collect_all(questions.values())):
    answer.write_csv(f"out/{name}.csv", include_header=False, datetime_format="%Y-%m-%d %H:%M:%S%.3f")
