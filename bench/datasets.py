"""Measures, in one run: indexing of label images, queries of a large catalogue, and the staging of a data set's files.

    python -m bench.datasets [--pictures 24] [--frames 41277] [--files 200] [--bytes 3370000] [--runs 3]

Label images of the generated data set are painted into a folder that is removed again. Passes over all of them
alternate, in one process: decoding alone, and what `./hpc data index` does: list files, decode, count, write the
catalogue. Then a catalogue of `--frames` frames with 38 classes each is written, and asked: the Redpaper's printed
query, the same question of the wide view, and all classes of all frames, each beside a bare sqlite3 with CAST
for int(). The list and the digest of 27,300 pairs are made, beside the SHA-256 alone. At last files of an A2D2 pair's
size, which are in the page cache, are read by `dd` into /dev/null, by the reader that stages data sets, and by it with
`--content`, which digests them as well; its start is measured alone, on an empty set. Processor time counts, because
the machine may be busy. Every figure is of this run on this machine; none is stored.
"""

import argparse
import hashlib
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PIL import Image

from bench.figures import judge, print_machine, run
from core.datasets.card import LABEL
from stacks.programs import SCRIPTS
from tests.support.printed_queries import WINDOW
from toolkit.cli.shared.console import console
from toolkit.datasets import file_list, generated, indexing, labels
from toolkit.datasets.file_list import File
from toolkit.datasets.frames import FileFacts, Frame, frames_of, list_files
from toolkit.datasets.sqlite_catalogue import SqliteCatalogue

TIMES_DECODING = 1.5
MOST_SECONDS = 1.0
LEAST_OF_DD = 0.8
PAIRS, MOST_SECONDS_OF_A_LIST = 27_300, 0.5
CARD = generated.card()
ORIGIN = indexing.Origin("IBM COS", "pictures")
WIDE = """select platform, datasource, filename from metaocean_view
where front=1 and center=1 and car between 10000 and 20000 and bicycle between 3000 and 5000
  and pedestrian between 500 and 6000"""


ALL = f"select filename, {', '.join(CARD.class_tags)} from metaocean_view where front=1 or side=1 or rear=1"  # noqa: S608


def main() -> int:
    """Measure, print, and return 0 if the goals were reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=24, help="label images to index")
    parser.add_argument("--frames", type=int, default=41_277, help="frames of the catalogue that is asked")
    parser.add_argument("--files", type=int, default=200, help="files to stage")
    parser.add_argument("--bytes", type=int, default=3_370_000, help="of each file to stage")
    parser.add_argument("--runs", type=int, default=3, help="repetitions; the median counts")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as folder:
        good = _index(Path(folder), arguments.pictures, arguments.runs)
        good &= _select(Path(folder), arguments.frames, arguments.runs)
    good &= _list(arguments.runs)
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as folder:
        good &= _stage(Path(folder), arguments.files, arguments.bytes, arguments.runs)
    print_machine()
    return 0 if good else 1


def _index(folder: Path, pictures: int, runs: int) -> bool:
    data = folder / "data"
    for frame in generated.frames(max(generated.LEAST, pictures))[:pictures]:
        generated.write(data, frame)
    files = [data / frame.label for frame in frames_of(list_files(data), CARD).frames]

    def decode() -> None:
        for file in files:
            with Image.open(file) as picture:
                picture.load()

    def index() -> None:
        facts = list_files(data)
        frames = frames_of(facts, CARD).frames
        counted = ((frame, labels.pixels(data / frame.label, CARD)) for frame in frames)
        _write(folder / "small.db", counted, facts)

    decoding, indexing_ = [], []
    for _ in range(runs):
        decoding.append(_taken(decode))
        indexing_.append(_taken(index))
    alone, all_ = statistics.median(decoding), statistics.median(indexing_)
    console.print(
        f"{len(files)} label images of {CARD.name}'s size, median of {runs}: "
        f"decoding {len(files) / alone:.1f} a second and core, indexing {len(files) / all_:.1f}"
    )
    return judge("time of indexing over decoding alone", all_ / alone, TIMES_DECODING)


def _select(folder: Path, number: int, runs: int) -> bool:
    path = folder / "large.db"
    frames = generated.frames(number)
    facts: dict[str, FileFacts] = {}

    def counted() -> Iterator[tuple[Frame, dict[str, int]]]:
        for frame in frames:
            label = CARD.naming.companions(frame.image)[LABEL]
            yield Frame(frame.image, label, "", frame.camera, ()), dict(frame.pixels)

    for frame, _ in counted():
        facts[frame.image] = facts[frame.label] = FileFacts(3_370_000, 0)
    writing = _taken(lambda: _write(path, counted(), facts))
    console.print(
        f"catalogue of {number} frames, {number * len(CARD.class_tags)} labels, {path.stat().st_size / 1e6:.0f} MB, "
        f"written in {writing:.1f} s"
    )
    catalogue = SqliteCatalogue(path)
    bare = sqlite3.connect(path)
    good = True
    for title, sql, plain in (
        ("the printed query", WINDOW, WINDOW.replace("int(", "+cast(").replace(".value)", ".value as integer)")),
        ("the same of the wide view", WIDE, WIDE),
        ("all classes of all frames", ALL, ALL),
    ):
        by_catalogue, direct = [], []
        for _ in range(runs):
            by_catalogue.append(_taken(partial(catalogue.ask, sql)))
            direct.append(_taken(partial(_all, bare, plain)))
        rows = len(catalogue.ask(sql))
        seconds = statistics.median(by_catalogue)
        console.print(f"{title}: {rows} rows, {seconds / statistics.median(direct):.2f} x a bare sqlite3")
        good &= judge(f"{title}, seconds", seconds, MOST_SECONDS)
    return good


def _list(runs: int) -> bool:
    """Measure list and digest of the Redpaper's subset of A2D2, beside the SHA-256 of the same bytes alone."""
    images = [frame.image for frame in generated.frames(PAIRS)]
    files = [
        File(name, 1_685_000 + number)
        for number, image in enumerate(images)
        for name in (image, CARD.naming.companions(image)[LABEL])
    ]
    listed = file_list.text(files)
    taken = statistics.median(_taken(lambda: file_list.digest(file_list.text(files))) for _ in range(runs))
    alone = statistics.median(_taken(lambda: hashlib.sha256(listed).hexdigest()) for _ in range(runs))
    console.print(f"list of {len(files)} files, {len(listed) / 1e6:.1f} MB: {taken / alone:.1f} x its SHA-256 alone")
    return judge("list and digest, seconds", taken, MOST_SECONDS_OF_A_LIST)


def _stage(root: Path, count: int, size: int, runs: int) -> bool:
    files = [File(f"{number:06}.png", size) for number in range(count)]
    for file in files:
        (root / file.path).write_bytes(os.urandom(size))
    reader = _reader(root, files)
    dd = f"for file in {root}/*.png; do dd if=$file of=/dev/null bs=1M status=none; done"
    passes = (["sh", "-c", dd], reader, [*reader, "--content"])
    times = [tuple(run(*command).cpu for command in passes) for _ in range(runs)]
    idle = statistics.median(run(*_reader(root, [])).cpu for _ in range(runs))
    by_dd, plain, digested = (statistics.median(column) for column in zip(*times, strict=True))
    megabytes = count * size / 1e6
    console.print(
        f"{count} files of {size:,} bytes, for each second of processor time: dd {megabytes / by_dd:,.0f} MB, "
        f"the reader {megabytes / plain:,.0f} MB, with --content {megabytes / digested:,.0f} MB; "
        f"its start takes {idle:.2f} s of {plain:.2f} s"
    )
    return judge("the reader's bytes over those of dd", by_dd / plain, LEAST_OF_DD, least=True)


def _reader(root: Path, files: Sequence[File]) -> list[str]:
    """Return the command line that stages files; their list is written."""
    listed = file_list.text(files)
    digest = file_list.digest(listed)
    path = root / f".hpc/lists/{digest}.list"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(listed)
    facts = {"name": "bench", "digest": digest, "root": root, "files": len(files), "bytes": sum(f.size for f in files)}
    options = [word for name, value in facts.items() for word in (f"--{name}", str(value))]
    return [sys.executable, str(SCRIPTS / "data_set.py"), "stage", *options]


def _write(path: Path, counted: Iterator[tuple[Frame, dict[str, int]]], facts: dict[str, FileFacts]) -> None:
    indexing.write(path, CARD, folder="", origin=ORIGIN, counted=counted, files=facts, now=datetime.now(UTC))


def _all(database: sqlite3.Connection, sql: str) -> list[object]:
    return database.execute(sql).fetchall()


def _taken(step: Callable[[], object]) -> float:
    begin = time.process_time()
    step()
    return time.process_time() - begin


if __name__ == "__main__":
    sys.exit(main())
