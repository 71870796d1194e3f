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
_WITHOUT_NETWORK = f"""#!/bin/sh
[ "$1" = -c ] && exec {sys.executable} "$@"
mkdir -p .venv/bin && printf '#!/bin/sh\\necho no matching distribution; exit 1\\n' > .venv/bin/python
chmod +x .venv/bin/python
"""
"""An environment is made, and pip reaches no package index."""


@pytest.mark.parametrize(
    ("python", "message"),
    [("exit 1", ("python", "older than 3.11", "PYTHON")), (_WITHOUT_PIP, ("ensurepip", "package python3-venv"))],
    ids=["old", "without-pip"],
)
def test_a_python_that_does_not_do_leaves_nothing(python: str, message: tuple[str, ...], tmp_path: Path) -> None:
    """A Python that is too old or has no venv is one message with the remedy, and leaves no environment behind."""
    assert has(_output_of_up(python if python.startswith("#!") else f"#!/bin/sh\n{python}\n", tmp_path), *message)
    assert not (tmp_path / ".venv").exists()


def test_packages_that_cannot_be_had_are_a_message_with_the_remedy(tmp_path: Path) -> None:
    """Without a package index `make up` ends by what to check, and the next one installs again."""
    output = _output_of_up(_WITHOUT_NETWORK, tmp_path)
    assert has(output, "no matching distribution", "not installed", "PIP_INDEX_URL", "1 GB free")
    assert not (tmp_path / ".venv" / ".installed").exists()


def _output_of_up(python: str, folder: Path) -> str:
    """Return what a failing `make up` prints with a script as its Python."""
    for name in ("Makefile", "requirements.txt", "requirements/sim.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    fake = folder / "python"
    fake.write_text(python)
    fake.chmod(0o755)
    done = subprocess.run(["make", "up", f"PYTHON={fake}"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stdout + done.stderr
