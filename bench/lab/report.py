#!/usr/bin/env python3
"""report.py: write the report and the pictures of one run of the laboratory.

    bench/lab/report.py FOLDER [--out FOLDER] [--keys A,B,...|all]
    bench/lab/report.py FOLDER --summary

Reads the files that run.sh wrote to the folder (measurements.csv, keys.csv,
settings.csv, touches.csv, advice.csv) and writes report.html, report.md and the
pictures, *.svg, to the same folder or to --out. The report shows six keys and
those of the user, unless the run or --keys named others. Prints a table of the scenes steady
and bulk with all keys; with --summary, nothing else.

Missing files, scenes, keys and metrics are left out, so that an interrupted run
has a report too. All numbers and sentences are computed from the files. The
same input gives the same output, byte for byte.

gnuplot draws the pictures; without it the report has only tables.
"""

import argparse
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True      # no files beside the sources

from reporting.measurements import Run, code, figure, warn
from reporting.pages import Bullets, Contents, Heading, Paragraph, Table, render_html, render_markdown
from reporting.pictures import Picture
from reporting.scenes import conclusions, sections

SUMMARY = [     # heading, metric, format
    ("rows/s", "rows_per_s", "{:.0f}"),
    ("WAL bytes/row", "wal_bytes_per_row", "{:.0f}"), ("full-page images/row", "fpi_per_row", "{:.3f}"),
    ("index MB", "index_bytes", "{:.1f}"), ("leaf density %", "leaf_density", "{:.1f}"),
    ("fragmentation %", "leaf_fragmentation", "{:.1f}"), ("hit ratio %", "hit_ratio", "{:.1f}"),
]


def summary(run, bases=("bigint", "random")):
    """The tables that run.sh prints: the medians of steady and bulk, and their ratios
    to those of the bases."""
    blocks = []
    for scene in ("steady", "bulk"):
        keys = run.scene_keys(scene)
        if not keys:
            continue
        shown = [column for column in SUMMARY if run.scene_has(scene, column[1])]
        compared = bases if run.scene_has(scene, "wal_bytes_per_row") else ()
        rows = []
        for key in keys:
            cells = [(run.median(scene, key, metric), form) for _, metric, form in shown]
            wal = [run.median(scene, name, "wal_bytes_per_row") for name in (key, *compared)]
            cells += [(wal[0] / base if wal[0] is not None and base else None, "{:.3f}") for base in wal[1:]]
            rows.append([f"`{run.label(key)}`"] + ["-" if value is None else form.format(value) for value, form in cells])
        blocks += [Heading(2, scene.capitalize()), Table(["key"] + [column[0] for column in shown] + [f"WAL : {base}" for base in compared], rows)]
    return blocks


def in_gigabytes(text):
    """A size in kB, as the system reports it, in GB; other text unchanged."""
    size = re.fullmatch(r"(\d+) kB", text)
    return f"{figure(int(size.group(1)) / 1048576)} GB" if size else text


FACTS = {"date": "Measured {}", "server_version": "PostgreSQL {}", "cores": "{} cores", "memory": "{} of memory",
         "shared_buffers": "shared_buffers {}", "synchronous_commit": "synchronous_commit {}", "full_page_writes": "full_page_writes {}"}


def report_blocks(run, all_keys):
    """The report, as headings, texts, tables and pictures; with the summary of all
    keys if it does not show all."""
    have = sections(run)
    facts = [form.format(in_gigabytes(run.settings[name])) for name, form in FACTS.items() if run.settings.get(name)]
    found = conclusions(have)
    body = [Heading(2, "How to read the figures"),
            Paragraph("Figures are medians, with the least and the greatest of the repetitions in brackets, and as thin bars in the pictures. "
                      "In tables, columns that begin with a colon are ratios to `bigint`, and to `gen_random_uuid()`, here called `random`; ~ means no "
                      "measurable difference. A difference is measurable if the ranges of the repetitions do not overlap, and the medians are further "
                      "apart than the wider range is wide. Of a single repetition, times are not compared, and other figures if one is at least twice "
                      "the other. "
                      "In the pictures, pale bands are predictions of `idgen.expected_key_cost()`."),
            Table(["key", "type", "expression"], [[code(key), run.types.get(key, ""), f"`{run.label(key)}`"] for key in run.keys], "text")]
    for section in have:
        body += [Heading(2, section.heading)] + ([Paragraph(" ".join(section.says), "lead")] if section.says else [])
        for picture in filter(None, section.pictures):
            picture.about = " ".join([*section.says, section.about]).replace("`", "")
            body.append(picture)
        body += [Paragraph(section.about), *section.tables]
    if len(run.keys) < len(run.all_keys):
        body += [Heading(2, "All keys"), Paragraph("Medians of the scenes of one row a transaction (steady) and many rows within one minute (bulk)."),
                 *[block._replace(level=3) if isinstance(block, Heading) else block for block in all_keys]]
    if run.settings:
        body += [Heading(2, "Settings"), Table(["setting", "value"], [[code(name), value] for name, value in run.settings.items()], "text")]
    return ([Heading(1, "What a primary key costs")]
            + ([Paragraph(", ".join(facts) + ". All settings are at the end.")] if facts else [])
            + ([Heading(2, "Conclusions"), Bullets(found)] if found else [])
            + [Heading(2, "Contents"), Contents([block.text for block in body if isinstance(block, Heading) and block.level == 2])]
            + body)


def draw(blocks, out):
    """Write the pictures, and replace each by (picture, SVG)."""
    if not shutil.which("gnuplot"):
        warn("gnuplot is not installed: the report has no pictures")
        return [block for block in blocks if not isinstance(block, Picture)]
    drawn = []
    for block in blocks:
        if isinstance(block, Picture):
            svg = block.svg()
            with open(os.path.join(out, block.name + ".svg"), "w", encoding="utf-8") as file:
                file.write(svg)
            block = (block, svg)
        drawn.append(block)
    return drawn


def main():
    parser = argparse.ArgumentParser(description="Write the report of a run of the laboratory.")
    parser.add_argument("folder", metavar="FOLDER", help="the output folder of run.sh")
    parser.add_argument("--out", metavar="FOLDER", help="write the report to this folder (default: the same)")
    parser.add_argument("--keys", metavar="A,B,...", help="the keys of the report, or all (default: six, and those of the user)")
    parser.add_argument("--summary", action="store_true", help="only print the table of steady and bulk")
    arguments = parser.parse_args()
    out = arguments.out or arguments.folder

    run = Run(arguments.folder)
    if not run.keys:
        warn(f"nothing was measured in {arguments.folder}")
        return 1
    sys.stdout.reconfigure(encoding="utf-8")
    print(render_markdown(summary(run)), end="")
    all_keys = summary(run, bases=())
    run.show(arguments.keys)
    if arguments.summary:
        return 0
    os.makedirs(out, exist_ok=True)
    blocks = draw(report_blocks(run, all_keys), out)
    for name, text in (("report.html", render_html(blocks, run.looks)), ("report.md", render_markdown(blocks))):
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as error:
        warn(error)
        sys.exit(1)
