"""A session ends when its user does nothing for 30 minutes."""

import polars as pl

gap = pl.duration(minutes=30)
events = pl.scan_parquet("$data/parquet/*/*").select("user_id", "event_time").sort("user_id", "event_time")
first = (pl.col("user_id") != pl.col("user_id").shift()) | (pl.col("event_time").diff() > gap)
sessions = (
    events.with_columns(session=first.fill_null(True).cum_sum())
    .group_by("session")
    .agg(
        pl.first("user_id"),
        window_start=pl.min("event_time"),
        window_end=pl.max("event_time") + gap,
        events=pl.len(),
    )
    .drop("session")
)
sessions.sink_csv("out/sessions.csv", include_header=False, datetime_format="%Y-%m-%d %H:%M:%S%.3f")
