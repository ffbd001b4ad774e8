"""Runs the SQL on standard input in DuckDB with its extension for Delta tables, as ask.py does.

The extension is made for one version of DuckDB, which stands beside the one that the other tests ask.
"""

import glob
import os
import sys

sys.path.insert(0, os.path.join(sys.prefix, "delta"))

import duckdb
import duckdb_ext

connection = duckdb.connect()
(extension,) = glob.glob(os.path.join(duckdb_ext.__path__[0], "extensions/*/*/delta.duckdb_extension"))
connection.execute(f"LOAD '{extension}'")
connection.execute("SET TimeZone = 'UTC'")
rows = connection.sql(sys.stdin.read())
for (row,) in rows.query("result", "SELECT to_json(result)::VARCHAR FROM result").fetchall():
    print(row)
