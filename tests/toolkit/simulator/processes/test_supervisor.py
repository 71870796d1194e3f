"""Processes: started, recognised and stopped, these and no others."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from toolkit.engine.errors import SimulatorError
from toolkit.simulator.processes import procfs
from toolkit.simulator.processes.supervisor import Command, Processes, Record

SLEEP = Command("sleeper", ["sleep", "300"], {})
STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\ntime.sleep(300)"
)


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Processes]:
    """Give the processes of an empty home; whatever is left at the end is killed."""
    found = Processes(tmp_path / "home")
    yield found
    found.stop(grace=0.1)


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that is none of ours."""
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as process:
        yield process
        process.kill()


def wait_for(path: Path, text: str) -> None:
    """Wait until the file at `path` holds `text`."""
    deadline = time.monotonic() + 5
    while not (path.exists() and text in path.read_text()):
        assert time.monotonic() < deadline, f"{path} never held {text}"
        time.sleep(0.01)


def test_start_and_stop(mine: Processes) -> None:
    """`stop` returns once the process has exited and its port is free."""
    record = mine.start(SLEEP)
    assert mine.running() == {"sleeper": record}
    assert record.command == SLEEP.fingerprint()
    assert mine.stop() == ("sleeper",)
    assert mine.running() == {}
    seen = procfs.stat(record.pid)
    assert seen is None or seen.started != record.started


def test_temporary_files_are_in_the_home(mine: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process of the cluster leaves behind goes with the cluster, and is not where the user's files are."""
    monkeypatch.setenv("TMPDIR", "/elsewhere")
    mine.start(Command("writer", ["sh", "-c", 'echo "in $TMPDIR"; sleep 300'], {}))
    wait_for(mine.log("writer"), f"in {tmp_path}/home/tmp\n")
    assert (tmp_path / "home" / "tmp").stat().st_mode & 0o777 == 0o700


def test_reused_pid_is_not_killed(mine: Processes, stranger: subprocess.Popen[bytes], tmp_path: Path) -> None:
    """A process that got the pid of a recorded one is not stopped."""
    old = Record("etcd", stranger.pid, started=1, boot=procfs.boot_id(), command="")
    pids = tmp_path / "home" / "pids.json"
    pids.parent.mkdir(exist_ok=True)
    pids.write_text(json.dumps([asdict(old)]))
    assert mine.running() == {}
    assert mine.stop() == ()
    assert stranger.poll() is None


def test_other_boot_is_another_process(mine: Processes, stranger: subprocess.Popen[bytes]) -> None:
    """A process of another boot is not the recorded one, though pid and start tick are the same."""
    seen = procfs.stat(stranger.pid)
    assert seen is not None
    record = Record("etcd", stranger.pid, seen.started, procfs.boot_id(), "")
    assert mine.alive(record)
    assert not mine.alive(replace(record, boot="another"))


def test_stubborn_process_is_killed_after_the_grace(mine: Processes) -> None:
    """A process that ignores SIGTERM is killed after the grace period."""
    record = mine.start(Command("stubborn", [sys.executable, "-c", STUBBORN], {}))
    wait_for(mine.log("stubborn"), "ready")
    mine.stop(grace=0.2)
    assert not mine.alive(record)


def test_children_go_with_their_parent(mine: Processes, tmp_path: Path) -> None:
    """Children are stopped with their parent, even when it was killed."""
    script = f"sleep 300 & echo $! > {tmp_path}/child; wait"
    for killed_first in (False, True):
        record = mine.start(Command("parent", ["sh", "-c", script], {}))
        wait_for(tmp_path / "child", "\n")
        child = int((tmp_path / "child").read_text())
        (tmp_path / "child").unlink()
        if killed_first:
            os.kill(record.pid, signal.SIGKILL)
            while mine.alive(record):
                time.sleep(0.01)
        mine.stop(["parent"])
        seen = procfs.stat(child)
        assert seen is None or seen.dead


def test_unrecorded_process_is_found(mine: Processes, tmp_path: Path) -> None:
    """A process that a crash kept from being recorded is found by its environment."""
    record = mine.start(SLEEP)
    wait_for(Path(f"/proc/{record.pid}/environ"), str(tmp_path / "home"))  # it is empty for a moment after the start
    (tmp_path / "home" / "pids.json").write_text("{damaged")
    assert mine.records() == {}
    mine.stop()
    assert not mine.alive(record)


def test_other_homes_are_left_alone(mine: Processes, tmp_path: Path) -> None:
    """`stop` leaves the processes of a home with a similar name running."""
    other = Processes(tmp_path / "home2")
    record = other.start(SLEEP)
    mine.start(SLEEP)
    mine.stop()
    assert other.alive(record)
    other.stop()


def test_dead_process_is_named_with_its_log(mine: Processes) -> None:
    """A process that exited is named with its last log lines."""
    mine.start(Command("etcd", ["sh", "-c", "echo bad flag; exit 3"], {}))
    deadline = time.monotonic() + 5
    while mine.running() and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(SimulatorError, match=r"(?s)etcd ended; the last lines of .*etcd\.log:\nbad flag"):
        mine.require_alive(["etcd"])


def test_missing_program_is_named(mine: Processes) -> None:
    """A missing tool is an error that names it."""
    with pytest.raises(SimulatorError, match=r"cannot start etcd: .*no-such-program"):
        mine.start(Command("etcd", ["/no-such-program"], {}))


def test_environment_is_small(mine: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, kubeconfig or token of the user reaches a process of the cluster."""
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")
    monkeypatch.setenv("KUBECONFIG", "/secret")
    record = mine.start(Command("sleeper", ["sleep", "300"], {"GOGC": "50"}))
    source = Path(f"/proc/{record.pid}/environ")
    wait_for(source, "GOGC=50")  # it is empty for a moment after the start
    environment = source.read_text()
    assert "PROXY" not in environment
    assert "KUBECONFIG" not in environment


def test_log_of_the_start_before_is_kept(mine: Processes) -> None:
    """The log of the start before is stored beside the new one."""
    mine.start(Command("etcd", ["sh", "-c", "echo first"], {}))
    wait_for(mine.log("etcd"), "first")
    mine.start(Command("etcd", ["sh", "-c", "echo second"], {}))
    wait_for(mine.log("etcd"), "second")
    assert mine.log("etcd").with_suffix(".log.1").read_text() == "first\n"


def fake_proc(root: Path) -> Path:
    """Return a /proc with one process whose name tries to confuse, and one that listens."""
    process = root / "41"
    (process / "fd").mkdir(parents=True)
    fields = ["S", "1", "41", "40", *["0"] * 15, "777", *["0"] * 10]
    (process / "stat").write_text(f"41 (a) b (c)) {' '.join(fields)}\n")
    (process / "environ").write_bytes(b"A=1\0HPC_SIM_OWNER=/x/home\0")
    (process / "status").write_text("Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n")
    (process / "comm").write_text("squid\n")
    (process / "fd" / "3").symlink_to("socket:[9001]")
    (root / "net").mkdir()
    head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    row = "   0: 0100007F:4E20 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 9001 1\n"
    (root / "net" / "tcp").write_text(head + row)
    return root


def test_procfs_reads_a_process(tmp_path: Path) -> None:
    """A process name with spaces and parentheses does not shift the fields of its stat line."""
    proc = fake_proc(tmp_path)
    assert procfs.stat(41, proc) == procfs.Stat(pid=41, state="S", session=40, started=777)
    assert procfs.stat(42, proc) is None
    assert procfs.environment_has(41, "HPC_SIM_OWNER=/x/home", proc)
    assert not procfs.environment_has(41, "HPC_SIM_OWNER=/x/hom", proc)
    assert procfs.memory(41, proc) == (1024 * 1024, 2048 * 1024)
    assert procfs.listener(20000, proc) == "squid (pid 41)"
    assert procfs.listener(20001, proc) is None
