"""Runs a SQL file in DuckDB: python duckdb.py FILE"""

import pathlib
import sys

import duckdb

duckdb.connect().execute(pathlib.Path(sys.argv[1]).read_text())
