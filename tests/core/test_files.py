"""Files that are written whole, and locks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import files
from core.project import PRODUCT
from toolkit.engine.errors import SimulatorError


def test_write_is_atomic_and_private(tmp_path: Path) -> None:
    """A file is written whole, readable by its owner only."""
    path = tmp_path / "deep" / "file"
    files.write_atomically(path, "one")
    files.write_atomically(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_lock_names_its_holder_and_dies_with_it(tmp_path: Path) -> None:
    """The lock of a killed process is released."""
    path = tmp_path / "lock"
    script = (
        "import sys, time, pathlib\nfrom core.files import locked\n"
        f"with locked(pathlib.Path({str(path)!r}), on_busy=lambda holder: None):\n"
        "    print('held', flush=True)\n    time.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(PRODUCT)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()

        def busy(who: str) -> None:
            raise SimulatorError(who)

        with pytest.raises(SimulatorError, match=str(holder.pid)), files.locked(path, on_busy=busy):
            pass
        holder.kill()
        holder.wait()
        with files.locked(path, on_busy=busy):
            assert path.read_text() == str(os.getpid())
