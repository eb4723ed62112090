#!/usr/bin/env python3
"""sample_report.py FOLDER: write the files of a run of the laboratory with invented figures. Each call writes the same
figures."""

import csv
import os
import sys

KEYS = {    # the expression, the type, and the ratio of the costs to those of bigint
    "bigint": ("nextval('n')", "bigint", 1),
    "random": ("gen_random_uuid()", "uuid", 24),
    "uuid_v7": ("idgen.uuid_v7()", "uuid", 1.05),
    "short_comb": ("idgen.short_comb()", "uuid", 1.18),
    "keyed_comb": ("idgen.keyed_comb('rows')", "uuid", 1.25),
    "mine": ("f('a|b', \"x\" < 3 && true)", "uuid", 1.12)}      # a key that a user added
WAL = {"wal_bytes_per_row": 171, "fpi_per_row": 0.028}
INDEX = {"index_bytes_per_row": 40.5, "leaf_density": 69.2}

SCENES = [  # the scene, the series, the points, and the metrics with the values of bigint
    ("usual", ["narrow, new, 1 a commit, on", "usual, 5 years, full_page_writes off"], [1000, 20000],
     {**WAL, "written_bytes_per_row": 8192}),
    ("usual", ["usual, 5 years, VACUUM"], [""], WAL),
    ("change", ["one INSERT", "20 rows a minute"], [5000],
     {**WAL, "index_wal_bytes_per_row": 95, "index_images_per_row": 0.001, "index_mb": 40,
      "growth_bytes_per_row": 41.5}),
    ("age", ["20 rows a minute", "200 rows a minute"], [0, 0.5, 1, 2], {**WAL, **INDEX, "reads_per_row": 0.03}),
    ("rates", ["a checkpoint every 5 minutes", "a checkpoint every 30 minutes"], [1, 20, 200], {**WAL, **INDEX}),
    ("speed", ["usual, synchronous_commit on"], [8], {**WAL, "rows_per_s": 9000}),
    ("replay", ["narrow", "narrow, direct I/O"], [100000], {"replay_s": 1.5}),
    ("bulk", ["one INSERT", "8 sessions"], [""], {**WAL, **INDEX}),
    ("delete", ["20 rows a minute"], range(4), INDEX),
    ("tenants", ["tenants: 1", "tenants: 1000"], [1000, 10000], {**WAL, **INDEX}),
    ("orders", [""], [""], {**WAL, "newest_blocks": 12}),
    ("areas", [""], [1, 1000], {**WAL, **INDEX}),
    ("lists", [""], [""], {**WAL, "table_bytes_per_row": 90}),
    ("commands", ["first call", "repetition"], [288000, 2000000], {**WAL, "cpu_us_per_row": 40, "index_mb": 9}),
    ("entities", ["with its index", "without its index"], [200000], {**WAL, "index_mb": 9}),
    ("heat", [""], [""], WAL)]


def write(name, head, rows):
    with open(os.path.join(sys.argv[1], name), "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head.split(), *rows])


os.makedirs(sys.argv[1], exist_ok=True)
write("measurements.csv", "scene key series x repetition metric value",
      [[scene, key, name, x, repetition, metric, f"{base * KEYS[key][2] / (1 + place / 4) * spread:.6g}"]
       for scene, series, xs, metrics in SCENES for key in KEYS for name in series for place, x in enumerate(xs)
       for metric, base in metrics.items() for repetition, spread in enumerate((1.04, 0.97, 0.99), 1)])
write("keys.csv", "key label type", [[key, *KEYS[key][:2]] for key in KEYS])
write("touches.csv", "key row block blocks position",
      [[key, f"{row / 199:.5f}", row * 7 % 50 + 1, 50, row * 7 % 50 / 50]
       for key in ("random", "keyed_comb") for row in range(200)])
write("settings.csv", "name value", [
    ("server_version", "15.20 (Debian 15.20-0+deb12u1)"), ("date", "2031-02-03"), ("cores", 2),
    ("memory", "8388608 kB"), ("command", "run.sh --quick --out /tmp/x"), ("shared_buffers", "256MB"),
    ("full_page_writes", "on"),
    ("age.shared_buffers", "4MB"), ("rates.rows", 300000)])
