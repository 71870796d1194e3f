"""What a group of files is: a name, and a function from a site to files and to what the settings leave open."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from stacks.site.site import Site


@dataclass(frozen=True)
class File:
    """One file."""

    path: str
    """From the folder that is written, with slashes, e.g. hosts/haproxy.cfg."""
    text: str
    sources: tuple[str, ...]
    """Ids of the demands that the file meets (docs/coverage/sources.md)."""
    executable: bool = False

    def __post_init__(self) -> None:
        path = PurePosixPath(self.path)
        if path.is_absolute() or ".." in path.parts or not self.text.endswith("\n"):
            raise ValueError(f"{self.path}: a file is inside of the folder, and its text ends with a line")


@dataclass(frozen=True)
class Open:
    """Something that a file would say, and that neither the settings nor a source say."""

    what: str
    remedy: str
    """What to set, and where."""


@dataclass(frozen=True)
class Group:
    """Files of one purpose; its name is their folder."""

    name: str
    title: str
    """What the files are, in a few words, for the table that `./hpc site render` prints."""
    render: Callable[[Site], Iterator[File | Open]]


def written(group: Group, site: Site) -> tuple[tuple[File, ...], tuple[Open, ...]]:
    """Return the files of a group, and what is open; raise ValueError for a path outside of its folder or repeated."""
    entries = tuple(group.render(site))
    files = tuple(entry for entry in entries if isinstance(entry, File))
    paths = [file.path for file in files]
    for path in paths:
        if PurePosixPath(path).parts[0] != group.name or paths.count(path) > 1:
            raise ValueError(f"{path}: group {group.name} writes each file once, below {group.name}/")
    return files, tuple(entry for entry in entries if isinstance(entry, Open))
