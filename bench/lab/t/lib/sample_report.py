#!/usr/bin/env python3
"""sample_report.py FOLDER: write the files of a run of the laboratory, with
invented figures. Each call writes the same files."""

import csv
import os
import sys

KEYS = {    # label, type, and its costs as a multiple of those of bigint
    "bigint": ("bigint identity", "bigint", 1),
    "random": ("gen_random_uuid()", "uuid", 24),
    "uuid_v4": ("idgen.uuid_v4()", "uuid", 25),
    "uuid_v7": ("idgen.uuid_v7()", "uuid", 1.05),
    "comb": ("idgen.comb()", "uuid", 1.05),
    "short_comb": ("idgen.short_comb()", "uuid", 1.18),
    "short_comb_run": ("idgen.short_comb(run_length => 1024)", "uuid", 1.17),
    "snowflake": ("idgen.snowflake()", "bigint", 1.01),
    "ulid": ("idgen.ulid()", "text", 1.15),
    # a key of the user
    "pg_ulid": ("f('a|b', \"x\" < 3 && true)", "uuid", 1.12)}
SWEPT = ["bigint", "random", "uuid_v7", "short_comb", "short_comb_run", "pg_ulid"]
SHORT = ["short_comb", "short_comb_run"]
COST = {"wal_bytes_per_row": 171, "fpi_per_row": 0.028}
INDEX = {"index_bytes": 3e7, "leaf_density": 3.7}
LONG = {"rows_per_s": 9000, "latency_p50_ms": 0.5, "latency_p99_ms": 3, "latency_p999_ms": 20}

SCENES = [  # scene, keys, series, points, and the metrics with those of bigint
    ("steady", KEYS, [""], [""], {**COST, **INDEX, "leaf_pages": 4000, "touched_leaf_pages": 20}),
    ("bulk", KEYS, [""], [""], {**COST, **INDEX, "rows_per_s": 90000}),
    ("curve", SWEPT, [""], [1000, 5000, 10000, 30000, 100000, 300000, 1000000],
     {**COST, **INDEX, "reads_per_row": 0.03, "index_rows": 2e6, "inserted_rows": 1000}),
    ("age", SWEPT, ["20 rows a minute", "200 rows a minute"], [0, 0.5, 1, 2], {**COST, **INDEX, "reads_per_row": 0.03}),
    ("rates", SWEPT, ["a checkpoint every 5 minutes", "a checkpoint every 30 minutes"], [1, 20, 200], COST),
    ("tenants", SWEPT, ["tenants: 1", "tenants: 1000"], [1000, 10000], {**COST, **INDEX}),
    ("reindex", SWEPT, ["before", "after REINDEX to 90 %"], [20, 200], {**COST, "growth_bytes_per_row": 38}),
    ("disk", SWEPT, ["", "full_page_writes off"], [1000, 10000], {"wal_bytes_per_row": 171, "changed_pages_per_row": 0.01, "disk_bytes_per_row": 253}),
    ("disk", SWEPT, ["VACUUM"], [""], {"wal_bytes_per_row": 40}),
    ("backup", SWEPT, [""], [1, 24], {"incremental_bytes": 4e5, "index_bytes": 7e7}),
    ("orders", SWEPT, [""], [""], {"wal_bytes_per_order": 1240, "wal_bytes_per_payment": 500, "blocks_newest": 12, "blocks_by_key": 15,
                                   "correlation": 0.041}),
    ("delete", SWEPT, ["20 rows a minute"], range(4), {"index_bytes_per_row": 40, "leaf_density": 60}),
    ("long", SWEPT, ["synchronous_commit off, 0 secondary indexes", "synchronous_commit on, 2 secondary indexes"],
     ["", *range(60, 660, 60)], {**LONG, **COST, "checkpoint_bytes": 4e9, "replica_lag_ms": 12}),
    ("changeover", ["random"], ["unchanged"], [200000, 400000], {**COST, **INDEX, "growth_bytes_per_row": 38}),
    ("changeover", ["uuid_v7", *SHORT], ["changed"], [200000, 400000],
     {**COST, **INDEX, "growth_bytes_per_row": 54, "predicted_wal_bytes_per_row": 175})]
# three repetitions whose median is neither the mean nor the first nor the last
EXACT = {"bigint": (175, 170, 171), "random": (4104, 4275, 4000), "snowflake": (174, 171, 175)}


def values(scene, key, metric, base, place):
    if scene == "steady" and metric == "wal_bytes_per_row" and key in EXACT:
        return EXACT[key]
    return [f"{base * KEYS[key][2] / (1 + place / 4) * spread:.6g}" for spread in (1.02, 0.97, 1)]


def write(name, head, rows):
    with open(os.path.join(sys.argv[1], name), "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head.split(), *rows])


os.makedirs(sys.argv[1], exist_ok=True)
write("measurements.csv", "scene key series x repetition metric value",
      [[scene, key, series, x, repetition, metric, value]
       for scene, keys, all_series, xs, metrics in SCENES for key in keys for series in all_series
       for place, x in enumerate(xs) for metric, base in metrics.items()
       for repetition, value in enumerate(values(scene, key, metric, base, place), 1)])
write("keys.csv", "key label type", [[key, *KEYS[key][:2]] for key in KEYS])
write("touches.csv", "key row block blocks position",
      [[key, row, row * 7 % 23993, 24000, row * 7 % 23993 / 24000] for key in SWEPT for row in range(0, 20000, 10)])
write("settings.csv", "name value", [
    ("server_version", "15.20 (Debian 15.20-0+deb12u1)"), ("date", "2031-02-03 04:05 UTC"), ("cores", 2), ("memory", "8388608 kB"),
    ("command", "run.sh --quick --key 'pg_ulid=uuid:f(1)'"), ("shared_buffers", "256MB"), ("full_page_writes", "on"),
    ("steady.rows", 5000000)])
