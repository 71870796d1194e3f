"""Reads the files of a data set, or proves that they are those of its lock; Python 3.6 or later, without packages.

    python3 data_set.py stage|check|slice|reduce --name N --digest D --root FOLDER --files F --bytes B [..]

The list of files is ROOT/.hpc/lists/<digest>.list, a line `<path>, tab, <bytes>` for each file; slice I of N is every
N-th line from line I on. `stage` reads all files of a slice whole, so that any cache then has them; with `--content` it
digests them, too, for twice the processor time. `check` proves to a job that it sees the list and every file of it.
`slice` does so, writes the list of its slice, and leaves the line that proves it in RESULTS, by which `reduce` proves
that the slices were disjoint and complete. Lines begin with `hpc-data`; the exit status is 1 when something is wrong.
"""

import argparse
import hashlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

_BLOCK = 512
_BUFFER = 1 << 20
_SHOWN = 3
_PROVED = ".hpc-slices"
_own = threading.local()


class File:
    """One line of the list."""

    def __init__(self, line: bytes, root: Path) -> None:
        path, _, size = line.rpartition(b"\t")
        self.line = line
        self.name = os.fsdecode(path)
        self.path = root / self.name
        self.size = int(size)


def say(what: str, **figures: object) -> str:
    """Print one line, and return it; blanks in values are not separators, so they become underscores."""
    words = [f"{key}={str(value).replace(' ', '_')}" for key, value in figures.items()]
    line = " ".join(["hpc-data", *([what] if what else []), *words])
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
    return line


def refuse(kind: str, **figures: object) -> NoReturn:
    """Print what is wrong, and end."""
    say("error", kind=kind, **figures)
    sys.exit(1)


def listed(options: argparse.Namespace) -> "list[bytes]":
    """Return the lines of the list; end when it is not the lock's."""
    path = Path(options.root) / ".hpc" / "lists" / f"{options.digest}.list"
    try:
        text = path.read_bytes()
    except OSError as error:
        refuse("list-missing", path=path, reason=error.strerror)
    content_digest = hashlib.sha256(text).hexdigest()
    if content_digest != options.digest:
        refuse("digest-differs", path=path, found=content_digest, wanted=options.digest)
    lines = [line + b"\n" for line in text.split(b"\n")[:-1]]
    outside = [line for line in lines if line.startswith(b"/") or b".." in line.rpartition(b"\t")[0].split(b"/")]
    if outside:
        refuse("path-outside", path=os.fsdecode(outside[0].rpartition(b"\t")[0]))
    size = sum(int(line.rpartition(b"\t")[2]) for line in lines)
    if (len(lines), size) != (options.files, options.bytes):
        refuse("counts-differ", files=len(lines), bytes=size, wanted=f"{options.files},{options.bytes}")
    return lines


def cached(status: os.stat_result) -> int:
    """Return the bytes of a file that are here: a cache allocates no blocks for what it has not fetched."""
    return min(status.st_blocks * _BLOCK, status.st_size)


def look(file: File) -> "tuple[str, int]":
    """Return what is wrong with a file, empty for nothing, and its bytes that are here."""
    try:
        status = file.path.stat()
    except OSError as error:
        return f"{file.name}:_{error.strerror}", 0
    wrong = "" if status.st_size == file.size else f"{file.name}:_{status.st_size}_bytes,_not_{file.size}"
    return wrong, cached(status)


def fetch(file: File) -> "tuple[str, int]":
    """Read a file whole; return what is wrong with it, and its bytes that are here afterwards."""
    return _read(file, None)


def digest(file: File) -> "tuple[str, int, str]":
    """Do the same, and return the SHA-256 of its content, too."""
    sha256 = hashlib.sha256()
    wrong, here = _read(file, sha256.update)
    return wrong, here, sha256.hexdigest()


def _read(file: File, use: "Callable[[memoryview], object] | None") -> "tuple[str, int]":
    buffer = _own.__dict__.setdefault("buffer", bytearray(_BUFFER))
    view, size = memoryview(buffer), 0
    try:
        with file.path.open("rb", buffering=0) as source:
            while True:
                count = source.readinto(buffer) or 0
                if not count:
                    break
                if use is not None:
                    use(view[:count])
                size += count
            status = os.fstat(source.fileno())
    except OSError as error:
        return f"{file.name}:_{error.strerror}", 0
    wrong = "" if size == file.size else f"{file.name}:_{size}_bytes,_not_{file.size}"
    return wrong, cached(status)


def results(work: "Callable[..., tuple[object, ...]]", files: "list[File]", threads: int) -> "list[tuple[object, ...]]":
    """Return the result for every file, in their order; end when something is wrong with one."""
    with ThreadPoolExecutor(threads) as pool:
        outcomes = list(pool.map(work, files))
    wrong = [str(result[0]) for result in outcomes if result[0]]
    if wrong:
        absent = all("No_such_file" in error.replace(" ", "_") for error in wrong)
        refuse("files-missing" if absent else "files-differ", files=len(wrong), first=";".join(wrong[:_SHOWN]))
    return outcomes


def percent(part: int, whole: int) -> str:
    """Return a share of bytes, rounded down: 100 means all of them."""
    return "100.0" if part >= whole else f"{part * 1000 // whole / 10:.1f}"


def sliced(lines: "list[bytes]", index: int, count: int) -> "dict[str, object]":
    """Return what proves a slice: its number, files, bytes, and the digest of its lines."""
    mine = lines[index::count]
    size = sum(int(line.rpartition(b"\t")[2]) for line in mine)
    digest = hashlib.sha256(b"".join(mine)).hexdigest()
    return {"slice": f"{index}/{count}", "files": len(mine), "bytes": size, "list": digest}


def stage(options: argparse.Namespace) -> None:
    """Read all files of a slice."""
    begin = time.monotonic()
    lines = listed(options)
    files = [File(line, Path(options.root)) for line in lines[options.index :: options.slices]]
    outcomes = results(digest if options.content else fetch, files, options.threads)
    here = sum(int(str(result[1])) for result in outcomes)
    proof = sliced(lines, options.index, options.slices)
    if options.content:
        # As `sha256sum` prints it of the same files.
        sums = (f"{result[2]}  ".encode() + os.fsencode(file.name) + b"\n" for file, result in zip(files, outcomes))  # noqa: B905
        proof["content"] = hashlib.sha256(b"".join(sums)).hexdigest()
    say(
        "stage",
        **{"name": options.name, "digest": options.digest, **proof},
        cached=percent(here, sum(file.size for file in files)),
        seconds=f"{time.monotonic() - begin:.1f}",
    )


def check(options: argparse.Namespace) -> "list[bytes]":
    """Prove that the list and every file of it are there; return the list."""
    lines = listed(options)
    outcomes = results(look, [File(line, Path(options.root)) for line in lines], options.threads)
    host = os.environ.get("HOSTNAME") or socket.gethostname()
    here = percent(sum(int(str(result[1])) for result in outcomes), options.bytes)
    figures = {"name": options.name, "digest": options.digest, "files": len(lines), "bytes": options.bytes}
    say("", **figures, cached=here, host=host)
    return lines


def slice_(options: argparse.Namespace) -> None:
    """Prove the whole, and prepare one slice of it."""
    lines = check(options)
    line = say("slice", name=options.name, digest=options.digest, **sliced(lines, options.index, options.slices))
    Path(options.slice_list).write_bytes(b"".join(lines[options.index :: options.slices]))
    folder = Path(options.results) / _PROVED
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{options.index}-of-{options.slices}").write_text(line + "\n")


def reduce_(options: argparse.Namespace) -> None:
    """Prove by the lines of all slices that they were disjoint and complete: each is the one of the lock's list."""
    lines = listed(options)
    for index in range(options.slices):
        path = Path(options.results) / _PROVED / f"{index}-of-{options.slices}"
        try:
            line = path.read_text().strip()
        except OSError as error:
            refuse("slice-missing", slice=f"{index}/{options.slices}", reason=error.strerror)
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        proof = {"digest": options.digest, **sliced(lines, index, options.slices)}
        if any(fields.get(key) != str(value) for key, value in proof.items()):
            refuse("slice-differs", slice=f"{index}/{options.slices}", found=fields.get("list"), wanted=proof["list"])
    figures = {"name": options.name, "digest": options.digest, "slices": options.slices}
    say("reduced", **figures, files=len(lines), bytes=options.bytes)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("stage", "check", "slice", "reduce"))
    for text in ("--name", "--digest", "--root"):
        parser.add_argument(text, required=True)
    for number in ("--files", "--bytes"):
        parser.add_argument(number, type=int, required=True)
    parser.add_argument("--index", type=int, default=int(os.environ.get("JOB_COMPLETION_INDEX") or 0))
    parser.add_argument("--slices", type=int, default=1)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--content", action="store_true")
    parser.add_argument("--slice-list")
    parser.add_argument("--results")
    options = parser.parse_args()
    {"stage": stage, "check": check, "slice": slice_, "reduce": reduce_}[options.what](options)


if __name__ == "__main__":
    main()
