"""Runs the SQL on standard input in DuckDB and prints the last statement's rows, one JSON object a line."""

import sys

import duckdb

connection = duckdb.connect()
# Else a TIMESTAMPTZ is shown in the zone of the machine.
connection.execute("SET TimeZone = 'UTC'")
rows = connection.sql(sys.stdin.read())
# DuckDB writes the JSON itself: through Python, decimals and nanoseconds would lose digits.
for (row,) in rows.query("result", "SELECT to_json(result)::VARCHAR FROM result").fetchall():
    print(row)
