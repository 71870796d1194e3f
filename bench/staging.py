"""Measures, in one run: the reader that stages data sets, beside `dd` over the same files.

    python -m bench.staging [--files 200] [--bytes 3370000] [--runs 5]

Files of an A2D2 pair's size, 3.37 MB, are written into a folder that is removed again, and are then in the page cache.
Passes over all of them alternate: `dd` of each file into /dev/null, the reader, and the reader with `--content`, which
digests them as well. Processor time counts, with that of child processes, because the machine may be busy; bytes for
each second of it are compared. The goal is 80 % of those of `dd`, without `--content`. The time to start the reader is
measured alone, on an empty set.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.figures import judge, print_machine, run
from stacks.programs import SCRIPTS
from toolkit.cli.shared.console import console
from toolkit.datasets import file_list
from toolkit.datasets.file_list import File

GOAL = 0.8


def main() -> int:
    """Measure, print, and return 0 if the goal was reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--bytes", type=int, default=3_370_000, help="of each file")
    parser.add_argument("--runs", type=int, default=5, help="repetitions; the median counts")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as folder:
        root = Path(folder)
        files = [File(f"{number:06}.png", arguments.bytes) for number in range(arguments.files)]
        for name, size in files:
            (root / name).write_bytes(os.urandom(size))
        reader = _reader(root, files)
        dd = f"for file in {folder}/*.png; do dd if=$file of=/dev/null bs=1M status=none; done"
        passes = (["sh", "-c", dd], reader, [*reader, "--content"])
        times = [tuple(run(*command).cpu for command in passes) for _ in range(arguments.runs)]
        idle = statistics.median(run(*_reader(root, [])).cpu for _ in range(arguments.runs))
    by_dd, plain, digested = (statistics.median(column) for column in zip(*times, strict=True))
    total = arguments.files * arguments.bytes
    console.print(f"{arguments.files} files of {arguments.bytes:,} bytes, for each second of processor time:")
    console.print(f"- dd: {total / by_dd / 1e6:,.0f} MB")
    console.print(f"- the reader: {total / plain / 1e6:,.0f} MB, {by_dd / plain:.0%} of dd")
    console.print(f"- with --content: {total / digested / 1e6:,.0f} MB, {by_dd / digested:.0%} of dd")
    console.print(f"its start takes {idle:.2f} s of {plain:.2f} s")
    print_machine()
    return 0 if judge("the reader's bytes over those of dd", by_dd / plain, GOAL, least=True) else 1


def _reader(root: Path, files: Sequence[File]) -> list[str]:
    """Return the command line that stages files; their list is written."""
    listed = file_list.text(files)
    digest = file_list.digest(listed)
    path = root / f".hpc/lists/{digest}.list"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(listed)
    size = sum(file.size for file in files)
    fixed = [
        "--name",
        "bench",
        "--digest",
        digest,
        "--root",
        str(root),
        "--files",
        str(len(files)),
        "--bytes",
        str(size),
    ]
    return [sys.executable, str(SCRIPTS / "data_set.py"), "stage", *fixed]


if __name__ == "__main__":
    sys.exit(main())
