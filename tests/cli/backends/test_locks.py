"""Locks of the state after a killed update."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.backends.backend import of_folder
from cli.errors import Problem


def _lock(root: Path, pid: int, host: str | None = None) -> Path:
    folder = root / ".pulumi/locks/organization/hpc/dev"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "11e8f66f.json"
    content = {
        "pid": pid,
        "username": "me",
        "hostname": host or socket.gethostname(),
        "timestamp": "2026-01-01T00:00:00Z",
    }
    file.write_text(json.dumps(content))
    (folder / f"{file.name}.attrs").write_text("{}")
    return file


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give a living process whose program is called pulumi."""
    program = tmp_path / "bin" / "pulumi"
    program.parent.mkdir()
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    process = subprocess.Popen([program, "60"])
    yield process
    process.kill()
    process.wait()


def test_lock_of_a_dead_process_goes(tmp_path: Path, engine: subprocess.Popen[bytes]) -> None:
    """After kill -9 of the engine every command ends with `the stack is currently locked`."""
    file = _lock(tmp_path, engine.pid)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    assert [lock.pid for lock in of_folder(tmp_path).release("dev")] == [engine.pid]
    assert not file.exists()
    assert list(file.parent.iterdir()) == []


def test_lock_of_a_living_engine_stays(tmp_path: Path, engine: subprocess.Popen[bytes]) -> None:
    """Two updates at once on one state."""
    file = _lock(tmp_path, engine.pid)
    with pytest.raises(Problem, match=f"being updated by process {engine.pid} of me"):
        of_folder(tmp_path).release("dev")
    assert file.exists()


def test_lock_of_a_reused_pid_goes(tmp_path: Path) -> None:
    """A lock that never goes because some other program got the dead engine's pid."""
    file = _lock(tmp_path, os.getpid())
    of_folder(tmp_path).release("dev")
    assert not file.exists()


def test_lock_of_another_host_stays(tmp_path: Path) -> None:
    """On a shared disk nobody can tell from here whether the holder lives."""
    file = _lock(tmp_path, 1, "elsewhere")
    with pytest.raises(Problem, match="on elsewhere"):
        of_folder(tmp_path).release("dev")
    assert file.exists()


def test_half_written_lock_is_named(tmp_path: Path) -> None:
    """A traceback about JSON, where the user could simply remove a file."""
    _lock(tmp_path, 1).write_text("{")
    with pytest.raises(Problem, match=r"11e8f66f\.json is unreadable"):
        of_folder(tmp_path).release("dev")


def test_no_lock_folder(tmp_path: Path) -> None:
    """A first update that fails because nothing was ever locked."""
    assert of_folder(tmp_path).release("dev") == ()
