"""Building tools: `go build` of the modules here and `go mod download` of data, with progress and clear failures."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.progress import Step
from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools import go
from toolkit.engine.tools.records import COMPILER_FLAGS, Binary, Data, Module, Replacement, Source

_SUMS, _REQUIREMENTS = "go.sum", "go.mod"


def list_packages(module: Module, step: Step, running: go.Running) -> int:
    """Download what a module is built from; return the number of packages that it is compiled from."""
    command = go.command_for(module)
    step.update(what="listing its packages")
    count = 0
    packages = [binary.package for binary in module.binaries]
    for line in go.lines([command, "list", "-mod=readonly", "-deps", *packages], module.folder, running):
        if go.names_package(line):
            count += 1
        else:
            step.update(what=line.removeprefix("go: "))
    return count


def build(module: Module, target: Path, total: int, step: Step, running: go.Running) -> None:
    """Build every binary of a listed module, of `total` packages, into `target`; see each print its version."""
    packages = [binary.package for binary in module.binaries]
    arguments = ["-v", "-mod=readonly", "-buildvcs=false", COMPILER_FLAGS, "-ldflags", module.linker_flags]
    # With one package -o names the file (else it would be called after the package: etcd's is `server`).
    output = str(target / module.binaries[0].command) if len(packages) == 1 else f"{target}/"
    done = 0
    with replaced_sources(module, running) as replaced:
        command = ["go", "build", *arguments, *replaced, "-o", output, *packages]
        for line in go.lines(command, module.folder, running):
            if not go.names_package(line):
                step.update(what=line.removeprefix("go: "))
                continue
            done += 1
            step.update(min(done, total), total, line)
    for binary in module.binaries:
        if not fits(target / binary.command, binary):
            query = " ".join((binary.command, *binary.version_arguments))
            fault = f"`{query}` does not print" if binary.version_arguments else "it does not record"
            raise SimulatorError(
                f"{binary.command} was built, but {fault} version {module.version}; this is a fault of the project's,"
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
    """Copy the files and folders of `data` out of their Go modules into the folder `target`."""
    path = shutil.which("go")
    if path is None:
        raise SimulatorError(f"{data.name} must be fetched, and there is no Go on PATH: {go.remedy(go.FETCHING_GO)}.")
    for source in data.sources:
        step.update(what=source.module)
        folder = _download(path, source) / source.folder
        for name in source.files:
            copy(folder / name, target / name)


def copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder with all in it, without the permissions of the module cache, which is read-only."""
    if not source.is_dir():
        shutil.copyfile(source, target)
        return
    target.mkdir()
    for path in source.iterdir():
        copy(path, target / path.name)


def _download(command: str, source: Source) -> Path:
    path, _, _ = source.module.partition("@")
    # The sum is compared with ours below, so a closed network needs no reachable checksum database.
    environment = {**os.environ, "GONOSUMDB": path, "GOWORK": "off", "GOFLAGS": ""}
    with tempfile.TemporaryDirectory() as empty:
        run = subprocess.run(
            [command, "mod", "download", "-json", source.module],
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
        raise go.failure(f"downloading the Go module {source.module}", [str(answer.get("Error", run.stderr))])
    if answer["Sum"] != source.checksum:
        raise SimulatorError(
            f"the Go module {source.module} has checksum {answer['Sum']}, and {source.checksum} was expected:"
            " what GOPROXY serves is not the published module."
        )
    return Path(answer["Dir"])


@contextmanager
def replaced_sources(module: Module, running: go.Running) -> Iterator[list[str]]:
    """Yield the arguments of `go build` by which it reads the replacements of `module`; none where it has none.

    Not an overlay: Go refuses one of a downloaded module. Raises SimulatorError for a source that no longer has what is
    to be replaced.
    """
    if not module.replacements:
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="hpc-sources-") as name:
        folder = Path(name)
        text = (module.folder / _REQUIREMENTS).read_text()
        for number, path in enumerate(dict.fromkeys(replacement.module for replacement in module.replacements)):
            copy = folder / str(number)
            # Without the permissions of the module cache, where nothing can be written.
            shutil.copytree(_downloaded(module, path, running), copy, copy_function=shutil.copyfile)
            for replacement in module.replacements:
                if replacement.module == path:
                    _replace(copy / replacement.file, replacement)
            text += f"\nreplace {path} => {copy}\n"
        shutil.copyfile(module.folder / _SUMS, folder / _SUMS)
        (folder / _REQUIREMENTS).write_text(text)
        yield ["-modfile", str(folder / _REQUIREMENTS)]


def _downloaded(module: Module, path: str, running: go.Running) -> Path:
    *_, folder = go.lines(["go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", path], module.folder, running)
    return Path(folder)


def _replace(source: Path, replacement: Replacement) -> None:
    text = source.read_text()
    if replacement.old not in text:
        raise SimulatorError(
            f"{replacement.file} of {replacement.module} has no {replacement.old} to be replaced;"
            " this is a fault of the project's, please report it."
        )
    source.write_text(text.replace(replacement.old, replacement.new))
