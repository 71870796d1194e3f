"""Processes that outlive their starter: started with a log, recorded, and stopped again, these and no others.

A process is known by its pid, its start time and the boot, so one that got a reused pid is never taken for
ours. What we start also carries the cluster's home in its environment, and so do its children: `stop` finds
those that a crash kept from being recorded, or that outlived their parent.
"""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from core.files import digest, write_atomically
from toolkit.engine.errors import SimulatorError
from toolkit.simulator.home import TEMPORARY
from toolkit.simulator.processes import procfs

OWNER = "HPC_SIM_OWNER"
# Of our own environment nothing else: no proxy, no kubeconfig and no token of the user's gets into the cluster.
KEPT = ("PATH", "HOME", "LANG", "HPC_CACHE", "XDG_CACHE_HOME")
LOG_LINES = 15
GRACE_SECONDS = 5.0

# Children of this very process, which has to reap them when they end.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Record:
    """A process as it was started; `started` in clock ticks since boot."""

    name: str
    pid: int
    started: int
    boot: str
    command: str
    """Fingerprint of its command."""


@dataclass(frozen=True)
class Command:
    """What to start: `settings` are added to a small environment, `ports` are those that it listens on."""

    name: str
    arguments: Sequence[str | Path]
    settings: Mapping[str, str]
    ports: tuple[int, ...] = ()

    def fingerprint(self) -> str:
        """Return the digest by which a running process is known to have been started by this command."""
        return digest(json.dumps([[os.fspath(argument) for argument in self.arguments], dict(self.settings)]).encode())


class Processes:
    """The processes of the cluster in the folder `home`."""

    def __init__(self, home: Path, proc: Path = procfs.PROC) -> None:
        self._home = home.resolve()
        self._proc = proc
        self._file = self._home / "pids.json"

    def records(self) -> dict[str, Record]:
        """Return what was started last under each name, alive or not; nothing where the file cannot be read."""
        try:
            return {entry["name"]: Record(**entry) for entry in json.loads(self._file.read_text())}
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return {}

    def alive(self, record: Record) -> bool:
        """Return whether exactly this process still runs."""
        child = _children.get(record.pid)
        if child is not None and child.poll() is not None:
            del _children[record.pid]
        seen = procfs.stat(record.pid, self._proc)
        return (
            seen is not None
            and not seen.dead
            and seen.started == record.started
            and record.boot == procfs.boot_id(self._proc)
        )

    def running(self) -> dict[str, Record]:
        """Return the recorded processes that run."""
        return {name: record for name, record in self.records().items() if self.alive(record)}

    def log(self, name: str) -> Path:
        """Where the process `name` writes; the log of the start before is beside it, with `.1`."""
        return self._home / "logs" / f"{name}.log"

    def start(self, command: Command) -> Record:
        """Start a process of its own session, so that nothing typed at our terminal reaches it."""
        log = self.log(command.name)
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists():
            log.replace(log.with_suffix(".log.1"))
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        temporary = self._home / TEMPORARY
        temporary.mkdir(mode=0o700, exist_ok=True)
        environment = {**kept, "TMPDIR": str(temporary), **command.settings, OWNER: str(self._home)}
        with log.open("wb") as output:
            log.chmod(0o600)
            try:
                child = subprocess.Popen(
                    [os.fspath(argument) for argument in command.arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    cwd=self._home,
                    start_new_session=True,
                )
            except OSError as error:
                raise SimulatorError(f"cannot start {command.name}: {error}") from error
        _children[child.pid] = child
        seen = procfs.stat(child.pid, self._proc)
        record = Record(
            command.name,
            child.pid,
            seen.started if seen else 0,
            procfs.boot_id(self._proc),
            command.fingerprint(),
        )
        self._write({**self.records(), command.name: record})
        return record

    def require_alive(self, names: Iterable[str]) -> None:
        """Raise SimulatorError, with the end of its log, for the first of `names` that has died."""
        running = self.running()
        for name in names:
            if name not in running:
                raise SimulatorError(f"{name} ended; the last lines of {self.log(name)}:\n{self.tail(name)}")

    def tail(self, name: str) -> str:
        """Return the last lines that the process `name` wrote."""
        try:
            return "\n".join(self.log(name).read_text(errors="replace").splitlines()[-LOG_LINES:])
        except FileNotFoundError:
            return "(no log)"

    def members(self, record: Record) -> list[int]:
        """Return the pids of a running process and of what it started within its session."""
        stats = (procfs.stat(pid, self._proc) for pid in procfs.pids(self._proc))
        return [seen.pid for seen in stats if seen and seen.session == record.pid and not seen.dead]

    def stop(self, names: Iterable[str] | None = None, grace: float = GRACE_SECONDS) -> tuple[str, ...]:
        """Stop the processes called `names` (all, and every stray of this cluster, without); return who ran.

        SIGTERM first; what is left after `grace` seconds gets SIGKILL. Returns when all are gone.
        """
        records = self.records()
        chosen = {name: records[name] for name in (records if names is None else names) if name in records}
        running = {name: record for name, record in chosen.items() if self.alive(record)}
        victims = {pid for record in running.values() for pid in self.members(record)}
        sessions = {record.pid for record in chosen.values() if record.boot == procfs.boot_id(self._proc)}
        victims |= self._owned(sessions if names is not None else None)
        _terminate(victims, self._is_ours(running), grace)
        for record in running.values():
            self.alive(record)  # reaps
        self._write({name: record for name, record in records.items() if name not in chosen})
        return tuple(running)

    def _owned(self, sessions: set[int] | None) -> set[int]:
        """Return processes that carry our mark, of the given sessions or of any."""
        candidates = []
        for pid in procfs.pids(self._proc):
            seen = procfs.stat(pid, self._proc)
            # Kernel threads are of session 0.
            if seen and not seen.dead and seen.session and (sessions is None or seen.session in sessions):
                candidates.append(pid)
        return procfs.started_with(candidates, f"{OWNER}={self._home}", self._proc)

    def _is_ours(self, running: Mapping[str, Record]) -> Callable[[int], bool]:
        by_session = {record.pid: record for record in running.values()}
        mark = f"{OWNER}={self._home}"

        def check(pid: int) -> bool:
            seen = procfs.stat(pid, self._proc)
            leader = by_session.get(seen.session) if seen else None
            return (leader is not None and self.alive(leader)) or bool(procfs.started_with({pid}, mark, self._proc))

        return check

    def _write(self, records: Mapping[str, Record]) -> None:
        write_atomically(self._file, json.dumps([asdict(record) for record in records.values()], indent=1))


def _terminate(pids: Iterable[int], is_ours: Callable[[int], bool], grace: float) -> None:
    """End processes through descriptors that stay with them: no pid can be reused between check and signal."""
    handles = []
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        if is_ours(pid):
            handles.append(handle)
        else:
            os.close(handle)
    try:
        for step in (signal.SIGTERM, signal.SIGKILL):
            for handle in handles:
                try:
                    signal.pidfd_send_signal(handle, step)
                except ProcessLookupError:
                    continue
            if _all_ended(handles, grace):
                return
    finally:
        for handle in handles:
            os.close(handle)


def _all_ended(handles: Sequence[int], seconds: float) -> bool:
    waiting = set(handles)
    deadline = time.monotonic() + seconds
    poll = select.poll()
    for handle in handles:
        poll.register(handle, select.POLLIN)
    while waiting:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        for handle, _ in poll.poll(left * 1000):
            poll.unregister(handle)
            waiting.discard(handle)
    return True
