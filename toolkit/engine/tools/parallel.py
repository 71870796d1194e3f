"""Making several tools: what they are built from is downloaded while the first are compiled, two at a time."""

import errno
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from core.files import locked
from core.progress import Progress, Step
from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools import build as tool_build
from toolkit.engine.tools.go import Running, StoppedError
from toolkit.engine.tools.records import Data, Module

LISTERS = 2
"""How many tools' sources are downloaded at a time."""
BUILDERS = 2
"""How many tools are built at a time: one is linked, which takes one core, while another is compiled."""
ESTIMATED_FROM = 0.05
"""The share of the work that is done before the rest is estimated."""
IN_MINUTES = 90
"""From how many seconds on an estimate is in minutes."""


@dataclass(frozen=True)
class Job:
    """A tool to make, and the folder in the cache that its files go to."""

    product: Module | Data
    folder: Path

    @property
    def title(self) -> str:
        """What is made."""
        if isinstance(self.product, Data):
            return f"fetching {self.product.name}"
        return f"building {', '.join(binary.command for binary in self.product.binaries)} {self.product.version}"


def make_all(jobs: Sequence[Job], progress: Progress) -> None:
    """Make every tool; raise SimulatorError for the first that fails, and stop the others."""
    for folder in {job.folder.parent for job in jobs}:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()  # before anything is downloaded
        except OSError as error:
            raise _cannot_write(error, folder) from error
    builds = [job for job in jobs if isinstance(job.product, Module)]
    title = jobs[0].title if len(jobs) == 1 else f"building {', '.join(job.product.name for job in builds or jobs)}"
    with progress.step(title) as step:
        _Workers(jobs, _Totals(step, len(builds))).work()


class _Totals:
    """Adds up the progress of tools that are made at the same time; it estimates the time that is left."""

    def __init__(self, step: Step, builds: int) -> None:
        self._step = step
        self._builds = builds
        self._lock = threading.Lock()
        self._counts: dict[str, tuple[float, float]] = {}
        self._start = time.monotonic()

    def list(self, title: str, packages: int) -> None:
        """Count the packages of a tool as work that is still to be done."""
        with self._lock:
            self._counts[title] = (0, packages)

    def finish(self, title: str) -> None:
        """Count a tool as done: what Go had compiled before, it did not report."""
        with self._lock:
            if title in self._counts:
                _, packages = self._counts[title]
                self._counts[title] = (packages, packages)

    def update(self, title: str, done: float | None, total: float | None, what: str) -> None:
        """Report the progress of one tool as that of all."""
        with self._lock:
            if done is not None and total is not None:
                self._counts[title] = (done, total)
            finished, packages = (
                (sum(numbers) for numbers in zip(*self._counts.values(), strict=True)) if self._counts else (0, 0)
            )
            if len(self._counts) < self._builds or not packages:  # the total is not known yet
                self._step.update(what=what)
                return
            self._step.update(finished, packages, what + self._left(finished / packages))

    def _left(self, share: float) -> str:
        if share < ESTIMATED_FROM:
            return ""
        seconds = (time.monotonic() - self._start) * (1 - share) / share
        return f", about {seconds / 60:.0f} min left" if seconds >= IN_MINUTES else f", about {seconds:.0f} s left"


@dataclass(frozen=True)
class _ToolStep:
    """The progress of one tool."""

    totals: _Totals
    title: str

    def update(self, done: float | None = None, total: float | None = None, what: str = "") -> None:
        self.totals.update(self.title, done, total, what)


@dataclass
class _Workers:
    """Threads that list the packages of tools, and threads that build those that are listed."""

    jobs: Sequence[Job]
    totals: _Totals
    running: Running = field(default_factory=Running)
    _error: BaseException | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _sources: dict[Path, threading.Lock] = field(default_factory=dict)

    def work(self) -> None:
        """Make everything; the threads are daemons, so that an interrupt ends the command."""
        unlisted: queue.SimpleQueue[Job] = queue.SimpleQueue()
        listed: queue.SimpleQueue[tuple[Job, int] | None] = queue.SimpleQueue()
        for job in self.jobs:
            unlisted.put(job)
        listers = [self._thread(lambda: self._list(unlisted, listed)) for _ in range(LISTERS)]
        builders = [self._thread(lambda: self._build(listed)) for _ in range(BUILDERS)]
        try:
            for thread in listers:
                thread.join()
            for _ in builders:
                listed.put(None)
            for thread in builders:
                thread.join()
        except BaseException:
            self.running.stop()
            raise
        if self._error is not None:
            raise self._error

    def _thread(self, task: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            try:
                task()
            except StoppedError:
                pass
            except BaseException as error:
                with self._lock:
                    self._error = self._error or error
                self.running.stop()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def _list(self, unlisted: "queue.SimpleQueue[Job]", listed: "queue.SimpleQueue[tuple[Job, int] | None]") -> None:
        while self._error is None:
            try:
                job = unlisted.get_nowait()
            except queue.Empty:
                return
            packages = 0
            if isinstance(job.product, Module):
                packages = tool_build.list_packages(job.product, _ToolStep(self.totals, job.title), self.running)
                self.totals.list(job.title, packages)
            listed.put((job, packages))

    def _build(self, listed: "queue.SimpleQueue[tuple[Job, int] | None]") -> None:
        while (item := listed.get()) is not None and self._error is None:
            with self._exclusive(item[0]):
                self._make(*item)

    def _exclusive(self, job: Job) -> AbstractContextManager[object]:
        """Keep tools of one go.mod apart: the second would compile once more what the first has under way."""
        if isinstance(job.product, Data):
            return nullcontext()
        with self._lock:
            return self._sources.setdefault(job.product.folder, threading.Lock())

    def _make(self, job: Job, packages: int) -> None:
        """Fill the folder of a job by way of a temporary one that is renamed at the end: all of it or nothing."""
        step = _ToolStep(self.totals, job.title)
        prefix = f".{job.folder.name}.making-"

        def wait(holder: str) -> None:
            step.update(what=f"waiting for process {holder}, which already does it")

        try:
            with locked(job.folder.with_name(f"{job.folder.name}.lock"), on_busy=wait):
                if job.folder.exists():
                    return
                for left_over in job.folder.parent.glob(f"{prefix}*"):  # of a build that was killed
                    shutil.rmtree(left_over, ignore_errors=True)
                temporary = Path(tempfile.mkdtemp(prefix=prefix, dir=job.folder.parent))
                try:
                    if isinstance(job.product, Data):
                        tool_build.fetch(job.product, temporary, step)
                    else:
                        tool_build.build(job.product, temporary, packages, step, self.running)
                    temporary.chmod(0o755)
                    temporary.rename(job.folder)
                    self.totals.finish(job.title)
                except BaseException:
                    shutil.rmtree(temporary, ignore_errors=True)
                    raise
        except OSError as error:
            raise _cannot_write(error, job.folder.parent) from error


def _cannot_write(error: OSError, folder: Path) -> SimulatorError:
    if error.errno == errno.ENOSPC:
        return SimulatorError(f"{folder} is full: make room (some 1 GiB), or set HPC_CACHE to a folder elsewhere.")
    return SimulatorError(f"cannot write below {folder} ({error}): set HPC_CACHE to a folder that is yours.")
