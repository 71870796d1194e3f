"""The programs of a simulated cluster: where each comes from, and how it is found or built."""

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from core.progress import SILENT, Progress
from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools import build, parallel
from toolkit.engine.tools.parallel import Job
from toolkit.engine.tools.table import DATA_OF, MODULE_OF, NAMES, USUAL

FOLDERS = ("HPC_TOOLS", "KUBEBUILDER_ASSETS", "PATH")
"""Environment variables with folders of installed tools; what an earlier one has goes before."""


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
    """Return the path of every tool in `names`; build those that are neither installed nor in the cache.

    Raises SimulatorError for an unknown name, a missing or too old Go (only when something must be built),
    a full disk and a failed build.
    """
    paths = {name: _installed(name) or _cached(name) for name in names}
    # The commands of one module are one job.
    jobs = dict.fromkeys(_job(name) for name, path in paths.items() if not path.exists())
    if jobs:
        parallel.make_all(tuple(jobs), progress or SILENT)
    return paths


def command(name: str) -> str:
    """Return the name of a tool's file: the API server's is the same in every version."""
    return MODULE_OF[name][1].command if name in MODULE_OF else name


def missing(names: Iterable[str] = USUAL) -> tuple[str, ...]:
    """Return those of `names` that `ensure` would have to build."""
    return tuple(name for name in names if _installed(name) is None and not _cached(name).exists())


def _job(name: str) -> Job:
    if name in DATA_OF:
        return Job(DATA_OF[name], _cached(name))
    return Job(MODULE_OF[name][0], _cached(name).parent)


def _cached(name: str) -> Path:
    if name in DATA_OF:
        return cache_folder() / DATA_OF[name].cache_name()
    module, binary = MODULE_OF[name]
    return cache_folder() / module.cache_name() / binary.command


def _installed(name: str) -> Path | None:
    if name not in NAMES:
        raise SimulatorError(f"unknown tool {name!r}; known: {', '.join(NAMES)}.")
    if name in DATA_OF:
        return None
    binary = MODULE_OF[name][1]
    # What prints no version is not a command for users, and another program of that name may well be on PATH.
    if not binary.version_arguments:
        return None
    return next((path for path in _candidates(binary.command) if build.fits(path, binary)), None)


def _candidates(file: str) -> Iterator[Path]:
    for variable in FOLDERS:
        path = shutil.which(file, path=os.environ.get(variable, ""))
        if path is not None:
            yield Path(path).absolute()
