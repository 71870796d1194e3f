"""The script that CI runs, with a `make` that only prints what it was called with and where."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.recorded import ROOT

_MAKE = """#!/bin/sh
echo "make $* beside $(ls -A .. | tr '\\n' ' ')with CI=$CI"
case "$*" in *test*) echo "3 passed in 1.00s"; exit "$TESTS" ;; esac
"""


@pytest.mark.parametrize("status", [0, 2])
def test_the_commit_is_tested_where_nothing_else_is(tmp_path: Path, status: int) -> None:
    """Checks and the README's tests run in a clone beside nothing; a failure of theirs is one of the script."""
    checkout, programs, temporary = (tmp_path / name for name in ("checkout", "programs", "temporary"))
    for folder in (checkout / ".ci", programs, temporary, tmp_path / "shared"):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci")
    (programs / "make").write_text(_MAKE)
    (programs / "make").chmod(0o755)
    git = ["git", "-C", str(checkout), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "t"]):
        subprocess.run([*git, *command], check=True)
    (checkout / "uncommitted").touch()
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("HPC_BARE_CLONE", "CI")},
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "TMPDIR": str(temporary),
        "TESTS": str(status),
    }
    done = subprocess.run([checkout / ".ci" / "run"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1 if status else 0, "")
    assert done.stdout.splitlines() == [
        "- not committed, and so not tested:",
        "?? uncommitted",
        "make check beside hpc with CI=true",
        "make --keep-going test beside hpc with CI=true",
        "3 passed in 1.00s",
        "--- summary",
        "3 passed in 1.00s",
    ]
    assert [*temporary.iterdir()] == []
