"""Building tools: `go build` of the modules here and `go mod download` of data, with progress and clear failures."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from simulator.errors import SimulatorError
from simulator.progress import Step
from simulator.tools.table import Binary, Data, Module, Source

SWITCHING_GO = (1, 24, 0)
FETCHING_GO = "1.24"
GO_VERSION = re.compile(r"(?:go)?(\d+)\.(\d+)(?:\.(\d+))?")
NO_SPACE = "no space left on device"
ERROR_LINES = 15


def go_command(module: Module) -> str:
    """Return the path of a Go that can build a module; raise SimulatorError where there is none."""
    needed_for, needed = ", ".join(binary.command for binary in module.binaries), needed_go(module)
    go = shutil.which("go")
    if go is None:
        raise SimulatorError(f"{needed_for} must be built, and there is no Go on PATH: {_go_help(needed)}.")
    requested = subprocess.run([go, "env", "GOVERSION", "GOTOOLCHAIN"], capture_output=True, text=True, check=False)
    version, _, toolchain = requested.stdout.strip().partition("\n")
    if not go_suffices(version, toolchain, needed):
        raise SimulatorError(
            f"{needed_for} must be built, and {go} is {version or 'of unknown version'} (GOTOOLCHAIN={toolchain}):"
            f" {_go_help(needed)}."
        )
    return go


def needed_go(module: Module) -> str:
    """Return the version of Go that a module asks for in its go.mod."""
    (found,) = re.findall(r"^go (\S+)$", (module.folder / "go.mod").read_text(), re.M)
    return str(found)


def go_suffices(version: str, toolchain: str, needed: str) -> bool:
    """Return whether a Go of `version` (as `go env GOVERSION` prints it) builds what needs one, or fetches that."""
    found = _version(version)
    fetches = found >= SWITCHING_GO and toolchain not in ("local", "path")
    return found >= _version(needed) or fetches


def _version(text: str) -> tuple[int, ...]:
    match = GO_VERSION.match(text)
    return tuple(int(part or 0) for part in match.groups()) if match else ()


def _go_help(needed: str) -> str:
    return f"install Go {needed} or later from https://go.dev/dl/, or Go {FETCHING_GO} with GOTOOLCHAIN=auto"


def build(module: Module, target: Path, step: Step) -> None:
    """Build every binary of `module` into the folder `target` and see each print its version."""
    go = go_command(module)
    packages = [binary.package for binary in module.binaries]
    total = _count_packages(go, module, packages, step)
    arguments = ["build", "-v", "-mod=readonly", "-buildvcs=false", "-ldflags", module.linker_flags]
    # With one package -o names the file (else it would be called after the package: etcd's is `server`).
    output = target / module.binaries[0].command if len(packages) == 1 else target
    done = 0
    tail: deque[str] = deque(maxlen=ERROR_LINES)
    for line in _run(
        [go, *arguments, "-o", f"{output}{'/' if output is target else ''}", *packages], module.folder, tail
    ):
        if line.startswith(("go: ", "#", "\t")) or " " in line:
            step.update(what=line.removeprefix("go: "))
            continue
        done += 1
        step.update(min(done, total), total, line)
    for binary in module.binaries:
        if not fits(target / binary.command, binary):
            asked = " ".join((binary.command, *binary.version_arguments))
            says = f"`{asked}` does not print" if binary.version_arguments else "it does not record"
            raise SimulatorError(
                f"{binary.command} was built, but {says} version {module.version}; this is a fault of the project's,"
                " please report it."
            )


def fits(path: Path, binary: Binary) -> bool:
    """Run the file at `path` for its version; False for one that will not start or is of another version.

    One that prints none is read: a Go command has the versions of its modules in it.
    """
    if not binary.version_arguments:
        return binary.fits.search(path.read_bytes().decode("latin-1")) is not None
    environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        run = subprocess.run(
            [path, *binary.version_arguments], capture_output=True, text=True, timeout=30, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0 and binary.fits.search(run.stdout) is not None


def fetch(data: Data, target: Path, step: Step) -> None:
    """Copy the files of `data` out of their Go modules into the folder `target`."""
    go = shutil.which("go")
    if go is None:
        raise SimulatorError(f"{data.name} must be fetched, and there is no Go on PATH: {_go_help(FETCHING_GO)}.")
    for index, source in enumerate(data.sources):
        step.update(index, len(data.sources), source.module)
        folder = _download(go, source) / source.folder
        for name in source.files:
            shutil.copyfile(folder / name, target / name)


def _download(go: str, source: Source) -> Path:
    path, _, _ = source.module.partition("@")
    # The sum is compared with ours below, so a closed network needs no reachable checksum database.
    environment = {**os.environ, "GONOSUMDB": path, "GOWORK": "off", "GOFLAGS": ""}
    with tempfile.TemporaryDirectory() as empty:
        run = subprocess.run(
            [go, "mod", "download", "-json", source.module],
            capture_output=True,
            text=True,
            cwd=empty,
            env=environment,
            check=False,
        )
    try:
        answer = json.loads(run.stdout)
    except json.JSONDecodeError:
        answer = {"Error": run.stderr.strip()}
    if run.returncode or "Error" in answer:
        raise _failure(f"downloading the Go module {source.module}", [str(answer.get("Error", run.stderr))])
    if answer["Sum"] != source.checksum:
        raise SimulatorError(
            f"the Go module {source.module} has checksum {answer['Sum']}, and {source.checksum} was expected:"
            " what GOPROXY serves is not the published module."
        )
    return Path(answer["Dir"])


def _count_packages(go: str, module: Module, packages: Sequence[str], step: Step) -> int:
    step.update(what="looking at what it needs")
    tail: deque[str] = deque(maxlen=ERROR_LINES)
    count = 0
    for line in _run([go, "list", "-mod=readonly", "-deps", *packages], module.folder, tail):
        if line.startswith("go: "):
            step.update(what=line.removeprefix("go: "))
        else:
            count += 1
    return count


def _run(command: Sequence[str], folder: Path, tail: deque[str]) -> Iterator[str]:
    """Yield the lines that a Go command prints; raise SimulatorError with the last of them if it fails."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None  # noqa: S101 - it is a pipe, as requested above
        for line in process.stdout:
            tail.append(line.rstrip())
            yield line.rstrip()
    except BaseException:
        process.terminate()
        raise
    finally:
        process.wait()
    if process.returncode:
        raise _failure(f"`go {command[1]}` of {folder.name}", tail)


def _failure(doing: str, lines: Sequence[str] | deque[str]) -> SimulatorError:
    text = "\n".join(lines)
    if NO_SPACE in text:
        return SimulatorError(
            f"{doing} filled the disk: make room (some 4 GiB), or set GOCACHE, GOTMPDIR and HPC_CACHE elsewhere."
            f"\n{text}"
        )
    return SimulatorError(f"{doing} failed; is the Go module proxy reachable (GOPROXY)? Its last lines:\n{text}")
