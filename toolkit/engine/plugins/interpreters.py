"""Which interpreter a program runs in, what is installed there, and its process, whose output is passed on."""

import json
import os
import selectors
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PACKAGES = """
import importlib.metadata, json, re
found = {d.metadata["Name"]: d for d in importlib.metadata.distributions() if d.metadata["Name"]}
plain = lambda name: re.sub("[-_.]+", "-", name).lower()
needs = [re.match(r"([\\w.-]+)(.*)", need) for d in found.values() for need in d.requires or ()]
needed = {plain(need[1]) for need in needs if "extra ==" not in need[2]}
print(json.dumps([[name, d.version, plain(name) in needed] for name, d in sorted(found.items())]))
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
    """Return the interpreter of `runtime.options.virtualenv` (relative to Pulumi.yaml), else that of PATH.

    Raises MissingInterpreterError when the environment does not exist.
    """
    virtualenv = options.get("virtualenv")
    if not virtualenv:
        return Path(shutil.which("python3") or shutil.which("python") or sys.executable)
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
            yield RequiredPlugin(name, declared.get("version", "").removeprefix("v"), declared.get("server", ""))


@dataclass(frozen=True)
class Package:
    """An installed package; `needed` where another one requires it, extras aside."""

    name: str
    version: str
    needed: bool


def packages(python: Path) -> list[Package]:
    """Return every package installed beside `python`, by name."""
    result = subprocess.run([str(python), "-c", _PACKAGES], check=True, capture_output=True, text=True)
    return [Package(*fields) for fields in json.loads(result.stdout)]


def python_version(python: Path) -> str:
    """Return the interpreter's version, such as `3.11.7`."""
    code = "import platform; print(platform.python_version())"
    return subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def chunks(child: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield what a child prints, as it comes, with the name of the stream, until its pipes are closed."""
    with selectors.DefaultSelector() as selector:
        for name, stream in (("stdout", child.stdout), ("stderr", child.stderr)):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, name)
        while selector.get_map():
            for key, _ in selector.select():
                if chunk := os.read(key.fd, 65536):
                    yield key.data, chunk
                else:
                    selector.unregister(key.fileobj)
