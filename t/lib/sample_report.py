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
        else:
            add(scene, key, "", "", wal_bytes_per_row=bytes_)
        images_bytes = fpi * 6000
        rest = bytes_ - images_bytes
        add(scene, key, "", "", us_per_row=time, rows_per_s=1e6 / time, fpi_per_row=fpi, fpi_bytes_per_row=images_bytes,
            wal_heap_bytes_per_row=rest * 0.45, wal_btree_bytes_per_row=rest * 0.4, wal_other_bytes_per_row=rest * 0.15,
            index_bytes=5e6 * 24 / density * 100, leaf_density=density, leaf_fragmentation=abs(70 - density),
            hit_ratio=0.661 if fpi > 0.1 else 0.99)

for key in SWEPT:
    wal, spread = KEYS[key][2], key == "random"
    for x in (0.25, 0.5, 1, 2, 4):
        miss = max(0, 1 - 0.9 / x) if spread else 0.001
        add("outgrow", key, "", x, rows_per_s=14000 / (1 + 6 * miss), wal_bytes_per_row=wal * (1 + (0.5 * math.log2(4 * x) / 4 if spread else 0)),
            reads_per_row=miss, us_per_row=1e6 / 14000 * (1 + 6 * miss))
    for x in (1000, 3000, 10000, 30000, 100000, 300000, 1000000):
        pages = 20000 * (1 - math.exp(-x / 20000)) if spread else 20 + x / (200 if key != "short_comb" else 120)
        add("checkpoint", key, "", x, wal_bytes_per_row=170 + 8000 * pages / x, fpi_per_row=pages / x)
    for x in (1, 2, 4, 8, 16, 32):
        add("clients", key, "", x, rows_per_s=9000 * x / (1 + x / (4 if spread else 9)), wal_bytes_per_row=wal * (0.8 if spread else 1.0))
    for series, time, reads in (("recent", 3.0, 0.002), ("random", 14, 0.6), ("range", 0.6, 0.01)):
        if series != "range" or key in ("uuid_v7", "bigint"):
            cold = 4 if spread and series == "recent" else 1
            add("read", key, series, "", us_per_row=time * cold, reads_per_row=0.7 if cold > 1 else reads, hit_ratio=0.66 if cold > 1 else 0.99 - reads / 2)
    for step in range(0, 13):
        x = step / 4
        grow = {"random": 1.05, "short_comb": 1.35, "short_comb_run": 1.45}.get(key, 1.02)
        size = 30e6 * (1 if key != "bigint" else 0.7) * (1 + (grow - 1) * (1 - math.exp(-2 * x)))
        add("delete", key, "", x, 0.01, index_bytes=size, leaf_density=min(90, 90 / (size / 30e6)), heap_bytes=64e6 * (1 + 0.08 * (1 - math.exp(-x))))

for rate in (100, 1000, 10000):
    for run in (1, 16, 256, 4096):
        for period in (1, 10, 60, 600, 3600):
            rows = period * rate
            pages = min(20000, rows / 120) / min(run, max(rows, 1)) + rate / 100
            density = 52 + 18 * (1 - math.exp(-rows / 2000))
            size = (20000 + rows) * 24 / density * 100
            add("period", "short_comb", f"run_length={run} rate={rate}", period, wal_bytes_per_row=180 + 4000 * (1 - math.exp(-pages / 4000)),
                leaf_density=density, index_bytes=size, predicted_leaf_density=density * 1.03, predicted_index_bytes=size * 0.98,
                index_rows=20000 + rows, inserted_rows=0)

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

for key in ("bigint", "random", "uuid_v7", "short_comb"):
    ordered = key in ("bigint", "uuid_v7")
    for x in (1, 8, 32, 64):
        waits = 0.7 * (1 - 1 / x) if ordered else 0.05 * (1 - 1 / x)
        add("contention", key, "", x, rows_per_s=9000 * x / (1 + x / (5 if ordered else 9)), samples=1000 * x,
            page_wait_share=waits, wal_wait_share=0.1 * (1 - 1 / x))
        for event, share in (("LWLock:BufferContent", waits), ("LWLock:WALInsert", 0.1 * (1 - 1 / x)), ("none", 0.9 - waits), ("IO:DataFileExtend", 0.002)):
            if share:
                add("contention", key, event, x, wait_share=share)

for key, share in (("bigint", 0.21), ("uuid_v7", 0.2), ("snowflake", 0.2), ("short_comb", 0.06), ("short_comb_run", 0.12), ("random", 0.004)):
    for series, part in (("read and insert", share), ("insert", 0)):
        add("serializable", key, series, "", failure_share=part, transactions=4000, failed=4000 * part, rows_per_s=5000 * (1 - part), us_per_row=1600)

for key, mask in (("masked", 0.5), ("uuid_v7", 0), ("short_comb", 0)):
    add("masked", key, "insert", "", 0.005, us_per_row=3 + mask, rows_per_s=1e6 / (3 + mask), wal_bytes_per_row=KEYS["short_comb" if key == "short_comb" else "uuid_v7"][2],
        fpi_per_row=0.001, index_bytes=30e6 if key == "short_comb" else 21e6, leaf_density=61 if key == "short_comb" else 90)
    add("masked", key, "lookup", "", 0.005, us_per_row=5 + mask, reads_per_row=0.3, hit_ratio=0.9)

for key in SWEPT:
    for x in (0.5, 2, 4):
        fall = 1 + 5 * max(0, 1 - 0.5 / x) if key == "random" else 1
        add("memory", key, "", x, rows_per_s=60000 / fall, wal_bytes_per_row=KEYS[key][2], reads_per_row=fall - 1)

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
write("advice.csv", ["key", "series", "moment", "key_kind", "leaf_density", "newest_leaf_share", "advice"],
      [[key, "changed", moment, kind, 69.8, 0.4, f"Advice, with a comma, {moment} the change."]
       for key in ("uuid_v7", "short_comb") for moment, kind in (("before", "random"), ("after", "mixed"))])
write("settings.csv", ["name", "value"], [
    ["server_version", "15.20 (Debian 15.20-0+deb12u1)"], ["date", "2031-02-03 04:05 UTC"], ["cores", "2"], ["memory", "8388608 kB"],
    ["command", "run.sh --quick --key 'pg_ulid=uuid:f(1)'"], ["shared_buffers", "256MB"], ["full_page_writes", "on"],
    ["steady.rows", "5000000"]])
