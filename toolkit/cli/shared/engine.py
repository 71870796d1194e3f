"""Run the `pulumi` engine: plainly, or with its events shown while it works.

It is waited for to its end, whatever ends us: an engine that goes on alone holds the lock of its state. Ctrl-C goes to
all processes of a terminal. SIGTERM, what a cancelled CI job ends in, comes to us alone or to all.
"""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TextIO

from core.progress import Step
from toolkit.cli.shared.console import Reporter, console, print_parts, styled
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.events import Account, Message, Operation, parse
from toolkit.cli.shared.paths import ROOT

TERMINATED = 128 + signal.SIGTERM
_GRACE = 0.5  # seconds in which a process reports that it got the signal itself
_WAITING = b"terminated: waiting for the engine to record its progress\n"
_POLL = 0.1  # seconds between two reads of the event log
_CANCELLING = "received; cancelling"
"""What the engine prints at the first signal to end."""
_LAST = 20  # lines of what the engine printed, in a message
_LOCK_POLL = 0.3  # seconds between two searches for the engine's lock
_KILLED = "the engine was killed (signal {signal})\nRun the same command again: it repairs what was interrupted."
_NO_LOGIN = "PULUMI_ACCESS_TOKEN must be set"
"""What the engine says where no one has logged in and no backend is named: it means Pulumi's own service."""
_BACKENDS = (
    "Set `state.backend` in the stack's file (docs/guide/state.md), e.g. an S3 bucket or a folder; or run "
    "`pulumi login` yourself. No account is needed."
)


@contextmanager
def started_process(
    command: Sequence[str], *, heard: Callable[[], bool] | None = None, **options: Any
) -> Iterator["subprocess.Popen[str]"]:
    """Start a process and wait for its end; SIGTERM is passed on to it as SIGINT, once, and ends us afterwards.

    `heard`: whether the process has the signal already; the engine takes a second one as the wish to drop what is
    under way. Raises SystemExit with the status of SIGTERM.
    """
    process: subprocess.Popen[str] | None = None
    terminated = False

    def interrupt() -> None:
        if process is not None:
            if heard is not None:
                time.sleep(_GRACE)
            if heard is None or not heard():
                process.send_signal(signal.SIGINT)

    def take(_number: int, _frame: FrameType | None) -> None:
        nonlocal terminated
        if not terminated:
            terminated = True
            os.write(2, _WAITING)  # a print in a handler may stand within another one
            interrupt()

    ours = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, take) if ours else None
    try:
        process = subprocess.Popen(command, text=True, **options)
        if terminated:
            interrupt()
        try:
            yield process
        finally:
            while process.poll() is None:
                with suppress(KeyboardInterrupt):
                    process.wait()
    finally:
        if ours:
            signal.signal(signal.SIGTERM, before)
    if terminated:
        raise SystemExit(TERMINATED)


class Observer(Protocol):
    """Reads the cluster while the engine works on it."""

    @property
    def failure(self) -> str | None:
        """Why the update cannot succeed any more, once that is known: the engine is then interrupted."""

    def take(self, event: Mapping[str, Any]) -> None:
        """Process an event of the engine."""

    def notes(self) -> list[str]:
        """Return the notes since the last call."""


@dataclass(frozen=True)
class Engine:
    """The `pulumi` command in the environment of one stack."""

    program: Path
    stack: str
    environment: Mapping[str, str]
    noting: Callable[[int], bool] | None = None
    """Notes, given the engine's process, which lock of the state is its own; returns whether it has found it."""

    def call(self, *arguments: str, folder: Path = ROOT) -> str:
        """Run a short command in a folder and return what it printed; raise Problem with its output on a failure."""
        command = [str(self.program), *arguments, "--non-interactive"]
        with started_process(
            command,
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            printed, complaints = process.communicate()
        if process.returncode != 0 and _NO_LOGIN in complaints:
            raise Problem(f"no place for the state of stack {self.stack} is named", _BACKENDS)
        if process.returncode != 0:
            raise Problem(f"`pulumi {' '.join(arguments)}` failed:\n{_last(complaints or printed)}")
        return printed

    def run_interactively(self, *arguments: str) -> int:
        """Run a command on the user's own terminal and return its exit status."""
        with started_process([str(self.program), *arguments], cwd=Path.cwd(), env=self.environment) as process:
            process.wait()
        return process.returncode

    def run_update(
        self, title: str, log: Path, *arguments: str, observer: Observer | None = None, planned: int = 0
    ) -> tuple[int, Account]:
        """Run an update and show its events; everything it prints itself goes to `log`.

        `planned`: the number of its operations, where it has no preview. It is interrupted, once, when `observer` has
        found a failure: it writes down what it has done, and ends.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        account = Account(planned)
        with tempfile.TemporaryDirectory(prefix="hpc-events-") as folder, log.open("w") as output:
            events = Path(folder) / "events"
            events.touch()
            with (
                Reporter().step(title) as step,
                events.open() as lines,
                self._logging(
                    events, arguments, output, heard=lambda: _CANCELLING in log.read_text(errors="replace")
                ) as process,
            ):
                reader, noted, due = _Reader(account, step, lines, observer), self.noting is None, 0.0
                try:
                    while process.poll() is None:
                        reader.take()
                        if observer is not None and observer.failure is not None and account.ended is None:
                            account.end(observer.failure)
                            _show(account.messages[-1])
                            if _CANCELLING not in log.read_text(errors="replace"):
                                process.send_signal(signal.SIGINT)
                        if not noted and self.noting and time.monotonic() >= due:
                            noted, due = self.noting(process.pid), time.monotonic() + _LOCK_POLL
                        time.sleep(_POLL)
                except KeyboardInterrupt:
                    console.print("interrupted: waiting for the engine to record its progress")
                    process.wait()
                    console.print("recorded; the same command continues from there")
                    raise
                finally:
                    reader.take()
        for message in account.finish():
            _show(message)
        if process.returncode < 0:
            account.messages.append(Message("error", _KILLED.format(signal=-process.returncode)))
        elif process.returncode > 0 and not any(message.severity == "error" for message in account.messages):
            account.messages.append(Message("error", _last(log.read_text(errors="replace"))))
        return process.returncode, account

    def run_preview(self, title: str, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
        """Run a command that changes nothing; return its status, all its events, and its last lines.

        With a negative status a signal ended it.
        """
        with tempfile.TemporaryDirectory(prefix="hpc-events-") as folder, Reporter().step(title):
            events, printed = Path(folder) / "events", Path(folder) / "printed"
            with printed.open("w") as output, self._logging(events, arguments, output) as process:
                status = process.wait()
            lines = events.read_text(errors="replace").splitlines() if events.exists() else []
            return status, [parse(line) for line in lines], _last(printed.read_text(errors="replace"))

    def _logging(
        self, events: Path, arguments: Sequence[str], output: TextIO, heard: Callable[[], bool] | None = None
    ) -> "AbstractContextManager[subprocess.Popen[str]]":
        """Start a command that writes its events to a file, and all that it prints to `output`."""
        options = ("--stack", self.stack, "--non-interactive", "--event-log", str(events))
        return started_process(
            [str(self.program), *arguments, *options],
            heard=heard,
            cwd=ROOT,
            # The engine knows --event-log only with its debugging commands on; its own Automation API does the same.
            env={**self.environment, "PULUMI_DEBUG_COMMANDS": "true"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


class _Reader:
    """Turns what is new in the event log into lines on the console; the last piece may be half a line."""

    def __init__(self, account: Account, step: Step, events: TextIO, observer: Observer | None) -> None:
        self._account, self._step, self._events, self._rest, self._observer = account, step, events, "", observer

    def take(self) -> None:
        """Read on. The engine empties the file between the preview and the update, which then starts at its begin."""
        if os.fstat(self._events.fileno()).st_size < self._events.tell():
            self._events.seek(0)
            self._rest = ""
        for note in self._observer.notes() if self._observer else ():
            console.print(f"    {note}")
        text = self._events.read()
        if not text:
            return
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            event = parse(line)
            if self._observer:
                self._observer.take(event)
            for item in self._account.take(event):
                _show(item)
        what = ", ".join(list(self._account.running.values())[:2])
        self._step.update(self._account.done, self._account.planned or None, what)


def _show(item: Operation | Message) -> None:
    if isinstance(item, Operation):
        mark = styled("failed", "red") if item.failed else item.verb
        print_parts("    ", mark, f" {item.name}", f" ({item.seconds:.0f} s)" if item.seconds else "")
    elif item.severity in ("warning", "error"):
        colour = "red" if item.severity == "error" else "yellow"
        where = f"{item.name}: " if item.name else ""
        print_parts("    ", styled(item.severity, colour), f" {where}{item.text}")
    elif item.text:
        console.print(f"    {item.text}")


def _last(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_LAST:])
