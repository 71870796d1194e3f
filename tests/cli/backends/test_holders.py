"""Which locks go by themselves: those whose holder is certainly gone."""

import json
import os
import signal
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from cli.backends import holders
from cli.backends.backend import Backend, of_folder
from cli.backends.opening import of_url
from cli.errors import Problem

DEAD = 2**22 - 1
_KEY = ".pulumi/locks/organization/hpc/dev/{}.json"


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give this person's notes a folder of the test's own."""
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


def _lock(backend: Backend, name: str = "1", pid: int = DEAD) -> None:
    said = {"pid": pid, "username": "me", "hostname": socket.gethostname(), "timestamp": "2026-01-01T00:00:00Z"}
    backend.store.write(_KEY.format(name), json.dumps(said).encode())


def _released(backend: Backend) -> bool:
    if backend.is_dead(backend.locks("dev")[0]):
        return bool(backend.release("dev"))
    with pytest.raises(Problem, match=r"`\./hpc pulumi --stack dev cancel`"):
        backend.release("dev")
    return False


def _elsewhere(monkeypatch: pytest.MonkeyPatch, **changes: str) -> None:
    place = holders.here()
    assert place is not None
    monkeypatch.setattr(holders, "here", lambda: replace(place, **changes))


def test_a_name_of_a_host_is_not_enough(shared: Backend) -> None:
    """The lock of a running update removed: runners of a fleet have one name, and process ids are small numbers."""
    assert not _released(shared)
    assert len(shared.locks("dev")) == 1


def test_an_update_of_ours_that_was_killed(shared: Backend) -> None:
    """`pulumi cancel` by hand after each kill -9, although the update was begun right here."""
    assert shared.noting("dev")(DEAD)
    assert _released(shared)


def test_a_living_update_of_ours(shared: Backend, tmp_path: Path) -> None:
    """Two updates at once from two terminals."""
    program = tmp_path / "pulumi"
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o700)
    pid = os.posix_spawn(program, ["pulumi", "60"], os.environ)
    try:
        _lock(shared, pid=pid)
        assert shared.noting("dev")(pid)
        assert not _released(shared)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert _released(shared)


def test_another_lock_than_the_noted_one(shared: Backend) -> None:
    """A note of a killed update that opens the lock of the next one, of another machine."""
    assert shared.noting("dev")(DEAD)
    shared.store.remove(_KEY.format("1"))
    _lock(shared, "2")
    assert not _released(shared)


def test_other_processes_are_not_noted(shared: Backend) -> None:
    """Somebody else's lock noted as ours, before the engine has found it in its way."""
    assert not shared.noting("dev")(1)
    assert not _released(shared)


@pytest.mark.parametrize(("changes", "of_own"), [({"boot": "other"}, True), ({"namespace": "pid:[1]"}, False)])
def test_noted_elsewhere(
    own: Backend, shared: Backend, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], of_own: bool
) -> None:
    """A container's update looked for among the processes of another, or of another machine on a shared disk.

    A machine that was started anew has none of its processes: the simulated cluster's lock goes.
    """
    assert own.noting("dev")(DEAD)
    assert shared.noting("dev")(DEAD)
    _elsewhere(monkeypatch, **changes)
    assert not _released(shared)
    assert _released(own) is of_own


def test_systems_that_do_not_say(own: Backend, shared: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc every process looks dead."""
    assert shared.noting("dev")(DEAD)
    monkeypatch.setattr(holders, "_PROC", Path("/nowhere"))
    assert not _released(own)
    assert not _released(shared)
    holders.note(shared.url, "x")


def test_no_place_for_notes(shared: Backend, notes: Path) -> None:
    """An update that ends because a note cannot be written."""
    notes.write_text("a file")
    assert not shared.noting("dev")(DEAD)
    assert not _released(shared)


def test_notes_that_are_broken(shared: Backend, notes: Path) -> None:
    """A traceback after a full disk."""
    assert shared.noting("dev")(DEAD)
    next(notes.rglob("*.json")).write_text("{")
    assert not _released(shared)
