"""The Makefile in a checkout that has no virtual environment yet."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.messages import has
from tests.support.recorded import ROOT

_WITHOUT_PIP = f"""#!/bin/sh
[ "$1" = -c ] && exec {sys.executable} "$@"
mkdir -p .venv/bin && ln -s {sys.executable} .venv/bin/python
echo ensurepip is not available; exit 1
"""
"""What Debian's Python does without python3-venv: it leaves an environment that cannot install anything."""


@pytest.mark.parametrize(
    ("python", "message"),
    [("exit 1", ("python", "older than 3.11", "PYTHON")), (_WITHOUT_PIP, ("ensurepip", "package python3-venv"))],
    ids=["old", "without-pip"],
)
def test_a_python_that_does_not_do_leaves_nothing(python: str, message: tuple[str, ...], tmp_path: Path) -> None:
    """A Python that is too old or has no venv is one message with the remedy, and leaves no environment behind."""
    for name in ("Makefile", "requirements.txt", "requirements-sim.txt"):
        shutil.copy(ROOT / name, tmp_path)
    fake = tmp_path / "python"
    fake.write_text(python if python.startswith("#!") else f"#!/bin/sh\n{python}\n")
    fake.chmod(0o755)
    done = subprocess.run(["make", "up", f"PYTHON={fake}"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert has(done.stdout, *message), done.stdout + done.stderr
    assert not (tmp_path / ".venv").exists()
