"""The Go that builds the tools: which version will do, and its commands, whose failures are explained."""

import os
import re
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools.records import Module

SWITCHING_GO = (1, 24, 0)
FETCHING_GO = "1.24"
GO_VERSION = re.compile(r"(?:go)?(\d+)\.(\d+)(?:\.(\d+))?")
NO_SPACE = "no space left on device"
ERROR_LINES = 15
GOGC = "400"
"""How far the heap of Go's compiler grows before garbage is collected, in percent of what is live.

With this and without debugging information etcd took 74 CPU seconds instead of 87.
"""


class StoppedError(Exception):
    """A command was stopped, or not started, because another one had failed."""


class Running:
    """The Go commands that run, so that the failure of one stops the others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def start(self, command: Sequence[str], folder: Path) -> subprocess.Popen[str]:
        """Start a command whose output is read as one text; raise StoppedError after `stop`."""
        environment = {"GOGC": GOGC, **os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
        with self._lock:
            if self._stopped:
                raise StoppedError
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            self._processes.add(process)
            return process

    def end(self, process: subprocess.Popen[str]) -> int:
        """Wait for a command and return its exit status; raise StoppedError where `stop` stopped it."""
        process.wait()
        with self._lock:
            self._processes.discard(process)
            if self._stopped:
                raise StoppedError
        return process.returncode

    def stop(self) -> None:
        """End the commands that run, and start no other."""
        with self._lock:
            self._stopped = True
            for process in self._processes:
                process.send_signal(signal.SIGINT)  # at others Go leaves its folder of temporary files


def command_for(module: Module) -> str:
    """Return the path of a Go that can build a module; raise SimulatorError where there is none."""
    commands, version_needed = ", ".join(binary.command for binary in module.binaries), needed(module)
    path = shutil.which("go")
    if path is None:
        raise SimulatorError(f"{commands} must be built, and there is no Go on PATH: {remedy(version_needed)}.")
    answer = subprocess.run([path, "env", "GOVERSION", "GOTOOLCHAIN"], capture_output=True, text=True, check=False)
    version, _, toolchain = answer.stdout.strip().partition("\n")
    if not suffices(version, toolchain, version_needed):
        raise SimulatorError(
            f"{commands} must be built, and {path} is {version or 'of unknown version'} (GOTOOLCHAIN={toolchain}):"
            f" {remedy(version_needed)}."
        )
    return path


def needed(module: Module) -> str:
    """Return the version of Go that a module asks for in its go.mod."""
    (version,) = re.findall(r"^go (\S+)$", (module.folder / "go.mod").read_text(), re.M)
    return str(version)


def suffices(version: str, toolchain: str, needed_version: str) -> bool:
    """Return whether a Go of `version` (as `go env GOVERSION` prints it) builds what needs one, or fetches that."""
    numbers = _numbers(version)
    fetches = numbers >= SWITCHING_GO and toolchain not in ("local", "path")
    return numbers >= _numbers(needed_version) or fetches


def _numbers(text: str) -> tuple[int, ...]:
    match = GO_VERSION.match(text)
    return tuple(int(part or 0) for part in match.groups()) if match else ()


def remedy(version: str) -> str:
    """Return what to do where there is no Go of `version`."""
    return (
        f"install Go {version} or later from https://go.dev/dl/, or Go {FETCHING_GO} with GOTOOLCHAIN=auto;"
        " or name a folder with the built tools in HPC_TOOLS"
    )


def lines(command: Sequence[str], folder: Path, running: Running) -> Iterator[str]:
    """Yield the lines that a Go command prints; raise SimulatorError with the last of them if it fails."""
    tail: deque[str] = deque(maxlen=ERROR_LINES)
    process = running.start(command, folder)
    try:
        assert process.stdout is not None  # noqa: S101 - it is a pipe, as requested above
        for line in process.stdout:
            if not names_package(line):
                tail.append(line.rstrip())
            yield line.rstrip()
    except BaseException:
        process.terminate()
        raise
    finally:
        status = running.end(process)
    if status:
        raise failure(f"`go {command[1]}` of {folder.name}", tail)


def names_package(line: str) -> bool:
    """Whether `go list` or `go build -v` names a package in a line, and reports no download or error."""
    return not line.startswith(("go: ", "#", "\t")) and " " not in line


def failure(action: str, output: Sequence[str] | deque[str]) -> SimulatorError:
    """Return the error of an action of Go with the last lines of its output, and what to do about it."""
    text = "\n".join(output)
    if NO_SPACE in text:
        return SimulatorError(
            f"{action} filled the disk: make room (some 8 GiB), or set GOCACHE, GOTMPDIR and HPC_CACHE elsewhere."
            f"\n{text}"
        )
    return SimulatorError(f"{action} failed; is the Go module proxy reachable (GOPROXY)? Its last lines:\n{text}")
