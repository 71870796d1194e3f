"""Runs Ansible on this machine, as if it were the hosts: files go below a folder, and the hosts' programs are fakes."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

SKIPPED = ("packages", "reboot", "services", "build")
"""Tags of tasks that need the host itself: its packages, units and kernel."""


def program(name: str) -> Path:
    """Return where a program of ansible-core is; without it the test is a stated skip, under CI a failure."""
    path = shutil.which(name, path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    if path is None:
        pytest.skip(f"needs {name}: `make venv` installs it")
    return Path(path)


def run(folder: Path, *arguments: str, fakes: Path | None = None, code: int = 0) -> str:
    """Run ansible-playbook in a folder with files for hosts; return what it prints."""
    hosts = {
        "ansible_connection": "local",
        "ansible_become": False,
        "ansible_python_interpreter": sys.executable,
        "host_root": f"{folder.parent}/{{{{ inventory_hostname }}}}",
    }
    path = os.pathsep.join((*([str(fakes)] if fakes else []), os.environ["PATH"]))
    done = subprocess.run(
        [
            program("ansible-playbook"), "-i", "inventory.yml", "-e", json.dumps(hosts),
            "--skip-tags", ",".join(SKIPPED), *arguments,
        ],
        cwd=folder,
        env=os.environ | {"PATH": path, "LC_ALL": "C.UTF-8", "ANSIBLE_HOME": str(folder.parent / "home"), **_QUIET},
        check=False,
        capture_output=True,
        text=True,
    )  # fmt: skip
    output = done.stdout + done.stderr
    assert done.returncode == code, output
    return output


_QUIET = {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "False", "ANSIBLE_GATHER_SUBSET": "!all,min"}


def changed(output: str) -> dict[str, int]:
    """Return how many tasks changed something, by host, at the end of a run."""
    rows = re.findall(r"^(\S+)\s+: ok=\d+\s+changed=(\d+)", output, re.MULTILINE)
    return {host: int(number) for host, number in rows}


def fakes(folder: Path, programs: Mapping[str, str]) -> Path:
    """Write programs, each the body of a shell script whose $STATE is a folder of its own; return where they are."""
    (folder / "state").mkdir(parents=True)
    for name, body in programs.items():
        (folder / name).write_text(f"#!/bin/bash\nSTATE={folder / 'state'}\n{body}\n")
        (folder / name).chmod(0o755)
    return folder
