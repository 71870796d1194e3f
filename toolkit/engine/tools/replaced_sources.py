"""A Go module with a few words of its sources replaced, so that it fits later modules than its own go.mod names."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools import go
from toolkit.engine.tools.table import Module, Replacement

_SUMS, _REQUIREMENTS = "go.sum", "go.mod"


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
