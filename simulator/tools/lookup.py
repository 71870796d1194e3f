"""Finding the tools: on PATH where the version fits, else in a cache that checkouts share, else built there."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from simulator.errors import SimulatorError
from simulator.files import locked
from simulator.progress import SILENT, Progress, Step
from simulator.tools import build as tool_build
from simulator.tools.table import DATA_OF, MODULE_OF, NAMES, USUAL


def cache_folder() -> Path:
    """Return where built tools are stored: $HPC_CACHE, else $XDG_CACHE_HOME/hpc, else ~/.cache/hpc."""
    chosen = os.environ.get("HPC_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hpc"


def find(name: str, *, progress: Progress | None = None) -> Path:
    """Return the path of the tool `name` (a folder for a data tool), built first if need be."""
    return ensure((name,), progress)[name]


def ensure(names: Iterable[str] = USUAL, progress: Progress | None = None) -> dict[str, Path]:
    """Return the path of every tool in `names`; build those that are neither on PATH nor in the cache.

    Raises SimulatorError for an unknown name, a missing or too old Go (only when something must be built),
    a full disk and a failed build.
    """
    return {name: _ensure(name, progress or SILENT) for name in names}


def command(name: str) -> str:
    """Return the name of a tool's file: the API server's is the same in every version."""
    return MODULE_OF[name][1].command if name in MODULE_OF else name


def missing(names: Iterable[str] = USUAL) -> tuple[str, ...]:
    """Return those of `names` that `ensure` would have to build."""
    return tuple(name for name in names if _on_path(name) is None and not _cached(name).exists())


def _ensure(name: str, progress: Progress) -> Path:
    if name not in NAMES:
        raise SimulatorError(f"unknown tool {name!r}; known: {', '.join(NAMES)}.")
    found = _on_path(name)
    if found is not None:
        return found
    cached = _cached(name)
    if not cached.exists():
        if name in DATA_OF:
            data = DATA_OF[name]
            title = f"fetching {name}"
            _make(cached, title, progress, lambda target, step: tool_build.fetch(data, target, step))
        else:
            module = MODULE_OF[name][0]
            title = f"building {', '.join(binary.command for binary in module.binaries)} {module.version}"
            _make(cached.parent, title, progress, lambda target, step: tool_build.build(module, target, step))
    return cached


def _cached(name: str) -> Path:
    if name in DATA_OF:
        return cache_folder() / DATA_OF[name].cache_name()
    module, binary = MODULE_OF[name]
    return cache_folder() / module.cache_name() / binary.command


def _on_path(name: str) -> Path | None:
    if name in DATA_OF:
        return None
    binary = MODULE_OF[name][1]
    candidate = shutil.which(binary.command)
    # What says no version is not a command for people to call, and something else of that name may well be on PATH.
    if candidate is None or not (binary.version_arguments and tool_build.fits(Path(candidate), binary)):
        return None
    return Path(candidate).absolute()


def _make(folder: Path, title: str, progress: Progress, make: Callable[[Path, Step], None]) -> None:
    """Fill `folder` by `make`, in a temporary one that is renamed at the end: all of it or nothing."""
    lock = folder.with_name(f"{folder.name}.lock")
    prefix = f".{folder.name}.making-"
    with progress.step(title) as step:

        def wait(holder: str) -> None:
            step.update(what=f"waiting for process {holder}, which already does it")

        try:
            with locked(lock, on_busy=wait):
                if folder.exists():
                    return
                for left_over in folder.parent.glob(f"{prefix}*"):  # of a build that was killed
                    shutil.rmtree(left_over, ignore_errors=True)
                temporary = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))
                try:
                    make(temporary, step)
                    temporary.chmod(0o755)
                    temporary.rename(folder)
                except BaseException:
                    shutil.rmtree(temporary, ignore_errors=True)
                    raise
        except OSError as error:
            raise _cannot_write(error, folder.parent) from error


def _cannot_write(error: OSError, folder: Path) -> SimulatorError:
    if error.errno == errno.ENOSPC:
        return SimulatorError(f"{folder} is full: make room (some 1 GiB), or set HPC_CACHE to a folder elsewhere.")
    return SimulatorError(f"cannot write below {folder} ({error}): set HPC_CACHE to a folder that is yours.")
