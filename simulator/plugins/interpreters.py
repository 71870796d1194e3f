"""Which interpreter a program runs in, and what is installed there."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PACKAGES = """
import importlib.metadata, json
names = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions() if d.metadata["Name"]}
print(json.dumps(names))
"""


class MissingInterpreterError(Exception):
    """The environment that the project names has no Python in it."""


@dataclass(frozen=True)
class RequiredPlugin:
    """A resource plugin that an installed package needs, from its `pulumi-plugin.json`."""

    name: str
    version: str
    server: str


def interpreter(root: str, options: dict[str, Any]) -> Path:
    """Return the interpreter of `runtime.options.virtualenv` (relative to Pulumi.yaml), else the running one.

    Raises MissingInterpreterError when the environment does not exist.
    """
    virtualenv = options.get("virtualenv")
    if not virtualenv:
        return Path(sys.executable)
    folder = (Path(root) / str(virtualenv)).absolute()
    for candidate in (folder / "bin" / "python", folder / "bin" / "python3"):
        if candidate.exists():
            return candidate
    raise MissingInterpreterError(
        f"runtime.options.virtualenv is {virtualenv!r}, but {folder} has no bin/python. Make the environment "
        f"(python3 -m venv {folder} && {folder}/bin/pip install -r requirements.txt) or correct Pulumi.yaml."
    )


def required_plugins(python: Path) -> Iterator[RequiredPlugin]:
    """Return the resource plugins that the packages beside `python` declare in their `pulumi-plugin.json`."""
    library = python.parent.parent / "lib"
    for path in sorted(library.glob("python3*/site-packages/*/pulumi-plugin.json")):
        declared = json.loads(path.read_text())
        if declared.get("resource"):
            name = declared.get("name") or path.parent.name.removeprefix("pulumi_")
            yield RequiredPlugin(name, _without_v(declared.get("version", "")), declared.get("server", ""))


def _without_v(version: str) -> str:
    return version.removeprefix("v")


def packages(python: Path) -> dict[str, str]:
    """Name and version of every package installed beside `python`."""
    result = subprocess.run([str(python), "-c", _PACKAGES], check=True, capture_output=True, text=True)
    names: dict[str, str] = json.loads(result.stdout)
    return names


def python_version(python: Path) -> str:
    """Return the interpreter's version, such as `3.11.7`."""
    code = "import platform; print(platform.python_version())"
    return subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.strip()
