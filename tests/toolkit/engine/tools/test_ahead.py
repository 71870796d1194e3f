"""Tools are built while the Python packages are installed, as far as that takes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from core.project import PRODUCT
from tests.engine.kit import wait_until

GO = """#!/bin/sh
case "$1" in
env) printf 'go1.26.1\\nauto\\n' ;;
list) echo a ;;
build) echo $$ > "$GO_PID"; exec sleep 60 ;;
esac
"""


def test_stopped_builds_leave_nothing(tmp_path: Path) -> None:
    """Whoever stops it waits for no build, sees no line, and finds no process and no tool half made."""
    command, pid, cache = tmp_path / "bin" / "go", tmp_path / "pid", tmp_path / "cache"
    command.parent.mkdir()
    command.write_text(GO)
    command.chmod(0o755)
    # A script's `&` ignores the interrupt.
    script = f"{sys.executable} -m toolkit.engine.tools --ahead & echo $!; wait $!"
    path = f"{command.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HPC_CACHE": str(cache), "GO_PID": str(pid), "HPC_TOOLS": ""}
    shell = subprocess.Popen(
        ["sh", "-c", script],
        cwd=PRODUCT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_until(lambda: pid.exists() and bool(pid.read_text()), 30)
    assert shell.stdout is not None
    os.kill(int(shell.stdout.readline()), signal.SIGTERM)
    assert shell.communicate(timeout=10)[0] == ""
    assert shell.returncode == 0
    building = Path(f"/proc/{pid.read_text().strip()}")
    wait_until(lambda: not building.exists(), 10)
    assert not [folder for folder in cache.iterdir() if folder.is_dir() and not folder.name.startswith(".")]
