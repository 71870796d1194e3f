"""Which locks are released automatically: those whose holder is certainly gone."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from toolkit.cli.shared.backends import locks
from toolkit.cli.shared.backends.backend import Backend, of_folder, of_url
from toolkit.cli.shared.errors import Problem

DEAD = 2**22 - 1
_KEY = ".pulumi/locks/organization/hpc/dev/{}.json"


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give this user's notes a folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "notes"))
    return tmp_path / "notes"


@pytest.fixture
def own(tmp_path: Path) -> Backend:
    """Give the backend of a simulated cluster, with a lock of a process of this host that is gone."""
    backend = of_folder(tmp_path / "state")
    _lock(backend)
    return backend


@pytest.fixture
def shared(own: Backend) -> Backend:
    """Give the same as a backend that other machines write to, too."""
    found = of_url(own.url)
    assert found is not None
    return found


def _lock(backend: Backend, name: str = "1", pid: int = DEAD, host: str = socket.gethostname()) -> None:
    content = {"pid": pid, "username": "me", "hostname": host, "timestamp": "2026-01-01T00:00:00Z"}
    backend.store.write(_KEY.format(name), json.dumps(content).encode())


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[int]:
    """Give the id of a living process whose program is called pulumi."""
    program = tmp_path / "pulumi"
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o700)
    with subprocess.Popen([program, "60"]) as process:
        yield process.pid
        process.kill()


def _released(backend: Backend) -> bool:
    if backend.is_dead(backend.locks("dev")[0]):
        return bool(backend.release("dev"))
    with pytest.raises(Problem, match=r"`\./hpc pulumi --stack dev cancel`"):
        backend.release("dev")
    return False


def _elsewhere(monkeypatch: pytest.MonkeyPatch, **changes: str) -> None:
    place = locks.here()
    assert place is not None
    monkeypatch.setattr(locks, "here", lambda: replace(place, **changes))


def test_a_name_of_a_host_is_not_enough(shared: Backend) -> None:
    """A lock is not released by host name and process id alone, which runners of a fleet may share."""
    assert not _released(shared)
    assert len(shared.locks("dev")) == 1


def test_an_update_of_ours_that_was_killed(shared: Backend) -> None:
    """The lock of an update that this machine started and that was killed is released."""
    assert shared.note_lock("dev", DEAD)
    assert _released(shared)


def test_a_living_update_of_ours(own: Backend, shared: Backend, engine: int) -> None:
    """The lock of a living engine stays until it is gone; the message names the process and what interrupts it."""
    _lock(own, pid=engine)
    assert shared.note_lock("dev", engine)
    for backend in (own, shared):
        with pytest.raises(Problem, match=rf"by process {engine} of me on [\s\S]*`kill -INT {engine}`"):
            backend.release("dev")
    os.kill(engine, signal.SIGKILL)
    os.waitpid(engine, 0)
    assert _released(shared)


def test_the_lock_of_a_dead_process_goes_with_what_is_beside_it(own: Backend, tmp_path: Path) -> None:
    """On a simulated cluster, whose machine alone writes its state, no note is needed."""
    folder = tmp_path / "state" / _KEY.rpartition("/")[0]
    (folder / "1.json.attrs").write_text("{}")
    assert [lock.pid for lock in own.release("dev")] == [DEAD]
    assert list(folder.iterdir()) == []
    assert own.release("dev") == ()


def test_the_lock_of_a_reused_pid_goes(own: Backend) -> None:
    """A process of another program is not an engine, whatever its id."""
    _lock(own, pid=os.getpid())
    assert _released(own)


def test_the_lock_of_another_host_stays(own: Backend) -> None:
    """The lock of another host is retained: whether its holder lives cannot be determined here."""
    _lock(own, host="elsewhere")
    with pytest.raises(Problem, match="on elsewhere"):
        own.release("dev")
    assert len(own.locks("dev")) == 1


def test_a_lock_that_was_not_written_to_its_end_is_named(own: Backend) -> None:
    """An incomplete lock is named as a file that the user can remove."""
    own.store.write(_KEY.format("1"), b"{")
    with pytest.raises(Problem, match=r"dev/1\.json is unreadable"):
        own.release("dev")


def test_another_lock_than_the_noted_one(shared: Backend) -> None:
    """A note of a killed update does not release the lock of a later one."""
    assert shared.note_lock("dev", DEAD)
    shared.store.remove(_KEY.format("1"))
    _lock(shared, "2")
    assert not _released(shared)


def test_other_processes_are_not_noted(shared: Backend) -> None:
    """A lock of another process than the engine's is not noted."""
    assert not shared.note_lock("dev", 1)
    assert not _released(shared)


@pytest.mark.parametrize(("changes", "of_own"), [({"boot": "other"}, True), ({"namespace": "pid:[1]"}, False)])
def test_noted_elsewhere(
    own: Backend, shared: Backend, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], of_own: bool
) -> None:
    """A lock that was noted in another container or machine is kept.

    A machine that was restarted has none of its processes: the simulated cluster's lock is released.
    """
    assert own.note_lock("dev", DEAD)
    assert shared.note_lock("dev", DEAD)
    _elsewhere(monkeypatch, **changes)
    assert not _released(shared)
    assert _released(own) is of_own


def test_systems_without_proc(own: Backend, shared: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc, no process counts as dead."""
    assert shared.note_lock("dev", DEAD)
    monkeypatch.setattr(locks, "_PROC", Path("/nowhere"))
    assert not _released(own)
    assert not _released(shared)
    locks.note(shared.url, "x")


def test_no_place_for_notes(shared: Backend, notes: Path) -> None:
    """A note that cannot be written is not an error, and releases nothing."""
    notes.write_text("a file")
    assert not shared.note_lock("dev", DEAD)
    assert not _released(shared)


def test_notes_that_are_broken(shared: Backend, notes: Path) -> None:
    """A note that was not written completely releases nothing, and is not an error."""
    assert shared.note_lock("dev", DEAD)
    next(notes.rglob("*.json")).write_text("{")
    assert not _released(shared)
