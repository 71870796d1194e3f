"""Programs that read shared files: shared-data, and the reader of data sets, which is really run.

The reader reads only files that are on this machine: those that users put in the folder `volumes` of the cluster. It is
started from its own text, stacks/scripts/data_set.py; a pod with any other text is not run.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from core.apis import data_sets
from core.apis.names import SIMULATED
from core.project import PRODUCT
from toolkit.simulator.performance.job import Launched, Worker
from toolkit.simulator.performance.printed import Printed

SCRIPT = PRODUCT / "stacks" / "scripts" / data_sets.SCRIPT
FOLDERS = ("--root", "--results")
"""Options whose value is a folder of the container."""
SECONDS = 120
"""After which a reader is stopped: files of tests are few and small."""
MIB = 64


def is_reader(text: str) -> bool:
    """Say whether the text of a Python program is the reader's."""
    return text == _script()


@cache
def _script() -> str:
    return SCRIPT.read_text(encoding="utf-8")


def data_set(words: Sequence[str], job: Launched) -> Printed:
    """Run the reader for every pod of the job that starts it; `words` are its text and its arguments."""
    lines: list[str] = []
    # Of the ranks of a pod one starts it.
    for pod in {worker.name: worker for worker in job.processes or (job.me,)}.values():
        printed, code = _run(words, pod, job.environment)
        lines += printed
        if code:
            return Printed(tuple(lines), code, lines[-1])
    return Printed(tuple(lines))


def _run(words: Sequence[str], pod: Worker, environment: Mapping[str, str]) -> tuple[list[str], int]:
    mapped = [*words]
    for at, word in enumerate(words[:-1]):
        if word in FOLDERS:
            folder = _on_this_machine(words[at + 1], pod.files)
            if folder is None:
                return [
                    f"{SIMULATED}: the volume at {words[at + 1]} has no files here, so nothing is read or proved"
                ], 0
            mapped[at + 1] = str(folder)
    with tempfile.TemporaryDirectory() as scratch:
        if "--slice-list" in words:
            mapped[mapped.index("--slice-list") + 1] = f"{scratch}/slice.list"
        own = {name: environment[name] for name in (data_sets.INDEX,) if name in environment}
        try:
            done = subprocess.run(
                [sys.executable, "-c", *mapped],
                env={"PATH": os.environ.get("PATH", ""), "HOSTNAME": pod.name, **own},
                capture_output=True,
                text=True,
                errors="surrogateescape",
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return [f"{SIMULATED}: the reader was stopped after {SECONDS} s"], 1
    return [*done.stdout.splitlines(), *done.stderr.splitlines()], done.returncode


def _on_this_machine(path: str, files: Mapping[str, Path]) -> Path | None:
    """Return the folder of this machine that a container has at a path; None where it has none."""
    for place, folder in sorted(files.items(), key=lambda mount: len(mount[0]), reverse=True):
        if PurePosixPath(path).is_relative_to(place):
            return folder / PurePosixPath(path).relative_to(place)
    return None


def shared_data(_words: Sequence[str], job: Launched) -> Printed:
    """Simulate it. Nothing is written: what counts is whose volume a pod has; a pod without one sees its own files."""
    ranks = list(enumerate(job.processes))
    count = len(ranks)
    wrote = (f"shared-data: rank {rank} of {count} on {pod.name} wrote {MIB} MiB" for rank, pod in ranks)
    reads = [
        (rank, pod, other, "same" if pod == peer or {*pod.claims} & {*peer.claims} else "not seen")
        for rank, pod in ranks
        for other, peer in ranks
        if other != rank
    ]
    lines = (
        f"shared-data: rank {rank} of {count} on {pod.name} read rank {other}: {result}"
        for rank, pod, other, result in reads
    )
    lost = any(result != "same" for *_, result in reads)
    return Printed((*wrote, *lines), int(lost), "shared-data: not seen" if lost else "")
