"""What is read of processes in a folder in the form of /proc."""

import threading
from pathlib import Path

import pytest

from toolkit.simulator.processes import procfs

MARK = "HPC_SIM_OWNER=/home"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """Give three processes: one with the mark, another without, and a third that is starting another program."""
    for pid, environment in {1: f"A=1\0{MARK}\0", 2: "A=1\0", 3: ""}.items():
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "environ").write_text(environment)
    return tmp_path


def test_a_process_that_starts_a_program_is_awaited(proc: Path) -> None:
    """Between two programs a process has no environment, and is read again until it has one."""
    started = threading.Timer(0.05, (proc / "3" / "environ").write_text, (f"{MARK}\0",))
    started.start()
    assert procfs.started_with({1, 2, 3, 4}, MARK, proc, patience=30) == {1, 3}
    started.join()


def test_a_process_without_environment_is_not_awaited_for_ever(proc: Path) -> None:
    """What has no environment after that is nobody's."""
    assert procfs.started_with({1, 2, 3, 4}, MARK, proc, patience=0) == {1}
