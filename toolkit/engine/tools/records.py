"""What is said of a tool: a command that is built from a Go module, or data that are copied out of some."""

import hashlib
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path

GO_MODULES = Path(__file__).parent / "go_modules"
COMPILER_FLAGS = "-gcflags=all=-dwarf=false"
"""Without the debugging information that the linker would drop: its share of a build is a tenth of the CPU time."""


@dataclass(frozen=True)
class Binary:
    """A command. `fits` matches, in what `version_arguments` makes it print, the versions that will do.

    `file` is its name on PATH and in the cache; None: its name here, which is another one where several versions are.
    A command that prints no version has none to ask for: then `fits` matches what the linker recorded in the file.
    """

    name: str
    package: str
    version_arguments: tuple[str, ...]
    fits: re.Pattern[str]
    file: str | None = None

    @property
    def command(self) -> str:
        """The name of its file."""
        return self.file or self.name


@dataclass(frozen=True)
class Replacement:
    """Words of one source file of a Go module, and what they are replaced with."""

    module: str
    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Module:
    """One of the Go modules in `go_modules/`; all its binaries come out of one `go build`."""

    name: str
    version: str
    binaries: tuple[Binary, ...]
    variables: tuple[tuple[str, str], ...] = ()
    on_demand: bool = False
    """Whether only what needs it builds it."""
    source: str | None = None
    """Folder whose go.mod it has in common with others; None: one of its own, called as it is."""
    replacements: tuple[Replacement, ...] = ()
    """What fits its sources to later modules than its own go.mod names."""

    @property
    def folder(self) -> Path:
        """Where its go.mod is."""
        return GO_MODULES / (self.source or self.name)

    @property
    def linker_flags(self) -> str:
        """What -ldflags gets: no symbol table, and the version, which only releases' own build scripts set."""
        return " ".join(["-s -w", *(f"-X {name}={value}" for name, value in self.variables)])

    def cache_name(self) -> str:
        """Folder of its binaries in the cache; another one as soon as anything that decides them changes."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.iterdir()):
            digest.update(f"{path.name}\0".encode())
            digest.update(path.read_bytes())
        facts = (
            COMPILER_FLAGS,
            self.linker_flags,
            *(repr(replacement) for replacement in self.replacements),
            *(binary.package for binary in self.binaries),
            platform.system(),
            platform.machine(),
        )
        digest.update("\0".join(facts).encode())
        return f"{self.name}-{self.version}-{digest.hexdigest()[:12]}"


@dataclass(frozen=True)
class Source:
    """Files and folders of one published Go module; `checksum` is its h1 sum, as go.sum would have it."""

    module: str
    checksum: str
    folder: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Data:
    """A folder of data files taken from Go modules, so that none of them is committed here."""

    name: str
    sources: tuple[Source, ...] = field(default=())
    on_demand: bool = False
    """Whether only what needs it fetches it."""

    def cache_name(self) -> str:
        """Folder of the files in the cache."""
        return f"{self.name}-{hashlib.sha256(repr(self.sources).encode()).hexdigest()[:12]}"
