"""Run the code of an unreviewed commit: without the user's environment, and without network.

It keeps out of reach what a process inherits: credentials in variables, agents, the home that variables name, and every
host; and nothing that it starts outlives it. It is not a sandbox: the code runs as the same user and finds files by
path. A pull request from outside belongs into a machine of its own, as CI gives it, that holds nothing worth having.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from toolkit.cli.shared.errors import Problem

TIMEOUT = 300.0  # seconds; a render takes two
_UNSHARE = ("--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child=KILL")
_PATH = "/usr/local/bin:/usr/bin:/bin"


def run(script: Path, *arguments: str) -> None:
    """Run a script with this interpreter, isolated; raise Problem with its last log lines if it fails."""
    with tempfile.TemporaryDirectory(prefix="hpc-confined-") as home:
        command = [*_unshare_command(), sys.executable, "-I", "-B", str(script), *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=home,
                env=environment(home),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT,
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            raise Problem(f"it does not end within {TIMEOUT:.0f} s", "") from None
    if done.returncode != 0:
        raise Problem(next(reversed(done.stderr.strip().splitlines()), f"it ended with {done.returncode}"), "")


def environment(home: str) -> dict[str, str]:
    """Return all variables that such code gets."""
    return {"PATH": _PATH, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "PULUMI_SKIP_UPDATE_CHECK": "true"}


def networkless() -> bool:
    """Whether a process can be kept off the network here: Linux, where users may have namespaces of their own."""
    return bool(_unshare_command())


@cache
def _unshare_command() -> tuple[str, ...]:
    tool = shutil.which("unshare", path=os.pathsep.join((os.environ.get("PATH", ""), _PATH)))
    if tool is None:
        return ()
    command = (tool, *_UNSHARE)
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    return command if tried.returncode == 0 else ()
