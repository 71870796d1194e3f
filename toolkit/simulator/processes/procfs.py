"""What /proc says about processes: enough to never mistake another process for one of the cluster's."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
STARTING_SECONDS = 0.2
"""How long a process may take between the end of one program in it and the start of another."""


@dataclass(frozen=True)
class Stat:
    """One line of /proc/PID/stat: `started` counts clock ticks since boot, so pid and it never come twice in a boot."""

    pid: int
    state: str
    session: int
    started: int

    @property
    def dead(self) -> bool:
        """True for a process that has ended and only waits to be reaped."""
        return self.state in "ZX"


def boot_id(proc: Path = PROC) -> str:
    """Return the id of this run of the kernel."""
    return (proc / "sys/kernel/random/boot_id").read_text().strip()


def stat(pid: int, proc: Path = PROC) -> Stat | None:
    """Return the state of process `pid`, None when there is none."""
    try:
        text = (proc / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    # The name, in parentheses, may itself hold spaces and parentheses.
    fields = text[text.rindex(")") + 2 :].split()
    return Stat(pid=pid, state=fields[0], session=int(fields[3]), started=int(fields[19]))


def pids(proc: Path = PROC) -> list[int]:
    """Return the ids of all processes that are there now."""
    return [int(entry.name) for entry in proc.iterdir() if entry.name.isdigit()]


def environment_has(pid: int, entry: str, proc: Path = PROC) -> bool:
    """Return whether process `pid` was started with `entry` (NAME=value) in its environment."""
    try:
        content = (proc / str(pid) / "environ").read_bytes()
    except OSError:  # gone meanwhile, or another user's
        return False
    return entry.encode() in content.split(b"\0")


def started_with(pids: Iterable[int], entry: str, proc: Path = PROC, patience: float = STARTING_SECONDS) -> set[int]:
    """Return which of the processes `pids` were started with `entry` in their environment.

    A process has none while it starts another program, and is read again for `patience` seconds. Kernel threads never
    have one: leave them out.
    """
    deadline = time.monotonic() + patience
    owned, left = set(), {*pids}
    while left:
        owned |= {pid for pid in left if environment_has(pid, entry, proc)}
        left = {pid for pid in left - owned if _without_environment(pid, proc)}
        if time.monotonic() > deadline:
            break
        if left:
            time.sleep(STARTING_SECONDS / 20)
    return owned


def _without_environment(pid: int, proc: Path) -> bool:
    try:
        return not (proc / str(pid) / "environ").read_bytes()
    except OSError:
        return False


def memory(pid: int, proc: Path = PROC) -> tuple[int, int]:
    """Return the resident memory of a process in bytes, now and at its peak; zeros when it is gone."""
    try:
        lines = (proc / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0, 0
    kib = {
        name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines) if name[:2] == "Vm"
    }
    return kib.get("VmRSS", 0) * 1024, kib.get("VmHWM", 0) * 1024


def listener(port: int, proc: Path = PROC) -> str | None:
    """Return which process listens on TCP `port`, as `NAME (pid N)`; None when that cannot be seen."""
    inodes = _listening_inodes(port, proc)
    if not inodes:
        return None
    sockets = {f"socket:[{inode}]" for inode in inodes}
    for pid in pids(proc):
        try:
            if any(str(handle.readlink()) in sockets for handle in (proc / str(pid) / "fd").iterdir()):
                return f"{(proc / str(pid) / 'comm').read_text().strip()} (pid {pid})"
        except OSError:
            continue
    return None


def _listening_inodes(port: int, proc: Path) -> set[str]:
    listening = "0A"
    inodes = set()
    for table in ("net/tcp", "net/tcp6"):
        try:
            lines = (proc / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == listening and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(fields[9])
    return inodes
