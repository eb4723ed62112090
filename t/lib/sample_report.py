#!/usr/bin/env python3
"""sample_report.py FOLDER: write the files of a run of the laboratory, with
invented but plausible figures. Each call writes the same files."""

import csv
import math
import os
import random
import sys

REPETITIONS = 3
SWEPT = ["bigint", "random", "uuid_v7", "short_comb", "short_comb_run", "pg_ulid"]
KEYS = {    # label, type; WAL and images of a row in steady, in bulk; density
    "bigint": ("bigint identity", "bigint", 171, 0.0, 136, 0.0, 90),
    "random": ("gen_random_uuid()", "uuid", 4231, 0.677, 444, 0.048, 70),
    "uuid_v4": ("idgen.uuid_v4()", "uuid", 4233, 0.682, 450, 0.048, 70),
    "uuid_v7": ("idgen.uuid_v7()", "uuid", 185, 0.0, 150, 0.0, 90),
    "comb": ("idgen.comb()", "uuid", 185, 0.0, 160, 0.0, 90),
    "short_comb": ("idgen.short_comb()", "uuid", 201, 0.001, 446, 0.049, 61),
    "short_comb_run": ("idgen.short_comb(run_length => 1024)", "uuid", 201, 0.001, 177, 0.002, 58),
    "snowflake": ("idgen.snowflake()", "bigint", 172, 0.0, 137, 0.0, 90),
    "ulid": ("idgen.ulid()", "text", 197, 0.0, 165, 0.0, 88),
    # a key of the user
    "pg_ulid": ("f('a|b', \"x\" < 3 && true)", "uuid", 190, 0.0, 160, 0.0, 89),
}

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
chance = random.Random(4122)
lines = []


def add(scene, key, series, x, noise=0.02, **metrics):
    for repetition in range(1, REPETITIONS + 1):
        for metric, value in metrics.items():
            value *= 1 + chance.uniform(-noise, noise) * (4 if "us_" in metric or "_per_s" in metric else 1)
            lines.append([scene, key, series, x, repetition, metric, f"{value:.6g}"])


def exactly(scene, key, metric, values):
    for repetition, value in enumerate(values, 1):
        lines.append([scene, key, "", "", repetition, metric, value])


for key, (label, type_, wal, images, bulk_wal, bulk_images, density) in KEYS.items():
    for scene, bytes_, fpi, time in (("steady", wal, images, 60 + 0.03 * wal), ("bulk", bulk_wal, bulk_images, 2 + bulk_wal / 100)):
        if scene == "steady" and key == "bigint":
            # values whose median is neither the mean nor the first nor the last
            exactly(scene, key, "wal_bytes_per_row", (175, 170, 171))
        elif scene == "steady" and key == "random":
            exactly(scene, key, "wal_bytes_per_row", (4104, 4275, 4000))
        elif scene == "steady" and key == "snowflake":
            exactly(scene, key, "wal_bytes_per_row", (174, 171, 175))
        else:
            add(scene, key, "", "", wal_bytes_per_row=bytes_)
        add(scene, key, "", "", us_per_row=time, rows_per_s=1e6 / time, fpi_per_row=fpi,
            index_bytes=5e6 * 24 / density * 100, leaf_density=density)

for key in SWEPT:
    wal, spread = KEYS[key][2], key == "random"
    for x in (1000, 5000, 10000, 30000, 100000, 300000, 1000000):
        pages = 20000 * (1 - math.exp(-x / 20000)) if spread else 20 + x / (200 if key != "short_comb" else 120)
        add("curve", key, "", x, wal_bytes_per_row=170 + 8000 * pages / x, fpi_per_row=pages / x, reads_per_row=0.78 if spread else 0.004,
            index_bytes=80e6, leaf_density=69, index_rows=2000000, inserted_rows=x)
    for step in range(0, 4):
        add("delete", key, "", step, 0.01, index_bytes=30e6 + 4e6 * step, leaf_density=90 - 8 * step, heap_bytes=64e6)
    for series in ("synchronous_commit off, 0 secondary indexes", "synchronous_commit on, 2 secondary indexes"):
        for x in range(60, 660, 60):
            add("long", key, series, x, 0.05, rows_per_s=9000 if spread else 30000)
        add("long", key, series, "", 0.05, rows_per_s=9000 if spread else 30000, latency_p50_ms=0.5, latency_p99_ms=3, latency_p999_ms=20, checkpoints=5,
            wal_bytes_per_row=wal * 3, reads_per_row=0.8 if spread else 0.01, index_bytes=2e9, checkpoint_bytes=4e9, backend_bytes=1e9, replica_lag_ms=12)

for key in ("short_comb", "short_comb_run"):
    for cycle in (1, 2):
        for step in range(0 if cycle == 1 else 1, 11):
            x = step / 10
            done = x if cycle == 1 else 1 + 0.55 * x
            add("wrap", key, f"cycle {cycle}", x, 0.01, wal_bytes_per_row=200 + (60 if cycle == 2 else 0) + (10 if key == "short_comb" else 0),
                fpi_per_row=0.001 * cycle, index_bytes=4e6 + 220e6 * done, leaf_density=(61 if cycle == 1 else 61 + 16 * x) - (3 if key != "short_comb" else 0))

for key, series in (("random", "unchanged"), ("uuid_v7", "changed"), ("short_comb", "changed"), ("short_comb_run", "changed"), ("uuid_v7", "from the start")):
    wal = KEYS[key][2]
    growth = {"unchanged": 38, "from the start": 27}.get(series, 54 if key == "uuid_v7" else 44)
    for x in (0, 200000, 400000, 600000, 800000, 1000000):
        add("changeover", key, series, x, 0.01, index_bytes=190e6 + growth * x, leaf_density=70 - (growth - 38) * x / 1e6)
        if x:
            add("changeover", key, series, x, rows_per_s=1e6 / (5 + wal / 40), wal_bytes_per_row=wal, fpi_per_row=KEYS[key][3],
                growth_bytes_per_row=growth, predicted_wal_bytes_per_row=wal * 1.05)

for key, share in (("bigint", 0.21), ("uuid_v7", 0.2), ("snowflake", 0.2), ("short_comb", 0.06), ("short_comb_run", 0.12), ("random", 0.004)):
    for series, part in (("read and insert", share), ("insert", 0)):
        add("serializable", key, series, "", failure_share=part, transactions=4000, failed=4000 * part, rows_per_s=5000 * (1 - part), us_per_row=1600)

touches = []
for key in SWEPT:
    blocks = 24000
    for i in range(2000):
        row = i * 10
        if key == "random":
            at = chance.random()
        elif key.startswith("short_comb"):
            at = 0.66 + 0.002 * (i // 400) + (chance.random() * 0.0015 if key == "short_comb" else (i % 100) * 1e-5)
        else:
            at = 1 - 0.004 * (1 - i / 2000)
        touches.append([key, row, round(at * blocks), blocks, f"{at:.5f}"])


def write(name, head, rows):
    with open(os.path.join(out, name), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


write("measurements.csv", ["scene", "key", "series", "x", "repetition", "metric", "value"], lines)
write("keys.csv", ["key", "label", "type"], [[key, *KEYS[key][:2]] for key in KEYS])
write("touches.csv", ["key", "row", "block", "blocks", "position"], touches)
write("settings.csv", ["name", "value"], [
    ["server_version", "15.20 (Debian 15.20-0+deb12u1)"], ["date", "2031-02-03 04:05 UTC"], ["cores", "2"], ["memory", "8388608 kB"],
    ["command", "run.sh --quick --key 'pg_ulid=uuid:f(1)'"], ["shared_buffers", "256MB"], ["full_page_writes", "on"],
    ["steady.rows", "5000000"]])
