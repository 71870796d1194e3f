"""Containerfiles of the workload images, from what they have to contain.

Nothing goes below /workspace, where jobs mount their data. Images run as any user id, so nothing is written at run time
below /opt either, and no key for SSH is built in: the operator of v2beta1 gives each job its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from components.base.model import Image, Model

Package = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+_-]*(==?[A-Za-z0-9.+~:_-]+)?$")]
"""A package, with its version behind = (apt, dnf) or == (pip)."""

Ref = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)*$")]
"""A commit, a tag or a branch; only a commit never moves."""

OfedVersion = Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+-[0-9]+(\.[0-9]+){3}$")]
"""Version of MLNX_OFED, e.g. 5.2-2.2.4.0."""

_Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
_Variable = Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]*$")]
_Value = Annotated[str, StringConstraints(pattern=r'^[^"\\\n\r]*$')]
_Command = Annotated[str, StringConstraints(pattern=r"^[^\n\r\\]+$")]


class Repository(Model):
    """Sources that become part of the image, at /opt/<name>, and how they are built there."""

    name: _Word
    uri: Annotated[str, StringConstraints(pattern=r"^https://[A-Za-z0-9_./~-]+$")]
    ref: Ref
    submodules: bool = Field(default=False, description="fetch what it refers to as well")
    commands: tuple[_Command, ...] = Field(default=(), description="run in its folder, one after another")


class Ofed(Model):
    """User space of MLNX_OFED. Its version is the host's: another may not work with the host's kernel modules."""

    version: OfedVersion = Field(description="driver version of the nodes, from ofed_info -s there")
    os: _Word = Field(default="ubuntu20.04", description="operating system of the image, as the archive names it")
    platform: Literal["x86_64", "aarch64"] = Field(
        default="x86_64", description="processors of the nodes, as the archive names them"
    )
    site: Annotated[str, StringConstraints(pattern=r"^https?://[A-Za-z0-9_./:-]*[A-Za-z0-9_]$")] = Field(
        default="https://content.mellanox.com/ofed",
        description="URL of the archives; a mirror in a disconnected network",
    )
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="checksum of the archive, whose installer runs as root: what `sha256sum` prints of a copy that you "
        "trust"
    )

    @property
    def folder(self) -> str:
        """Name of the archive, and of the folder in it."""
        return f"MLNX_OFED_LINUX-{self.version}-{self.os}-{self.platform}"


class Recipe(Model):
    """The parts of an image, in build order; what changes often comes last."""

    base: Image = Field(description="pinned; BuildConfig and FROM name the same")
    manager: Literal["apt", "dnf"] = Field(default="apt", description="package manager of the base")
    packages: tuple[Package, ...] = ()
    ofed: Ofed | None = None
    python_packages: tuple[Package, ...] = ()
    repositories: tuple[Repository, ...] = ()
    clean: tuple[_Command, ...] = Field(default=(), description="run at the end")
    environment: dict[_Variable, _Value] = Field(default_factory=dict, description="variables of the image")


def containerfile(recipe: Recipe) -> str:
    """Return the text of the Containerfile."""
    return "\n\n".join(_instructions(recipe)) + "\n"


def other_driver(recipe: Recipe, host: str) -> str | None:
    """Say what is wrong with the image on nodes whose MLNX_OFED is `host`; None where nothing is."""
    # That of an operator's container is called by the release that it is in, e.g. doca3.4.1-26.04-1.1.0.0-1.
    if recipe.ofed is None or recipe.ofed.version == host or f"-{recipe.ofed.version}-" in host:
        return None
    return f"the image has MLNX_OFED {recipe.ofed.version}, and the nodes have {host}; build it with the nodes' version"


def _instructions(recipe: Recipe) -> Iterator[str]:
    yield f"FROM {recipe.base}"
    if recipe.packages:
        yield _run(_INSTALL[recipe.manager], sorted(set(recipe.packages)), _TIDY[recipe.manager])
    if recipe.ofed:
        yield _shell(_ofed(recipe.ofed))
    if recipe.python_packages:
        yield _run("python3 -m pip install --no-cache-dir", recipe.python_packages, None)
    for repository in recipe.repositories:
        yield _shell(_fetch(repository), *repository.commands)
    if recipe.clean:
        yield _shell(*recipe.clean)
    if recipe.environment:
        yield "\n".join(f'ENV {name}="{value}"' for name, value in recipe.environment.items())


_INSTALL: Mapping[str, str] = {
    "apt": "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends",
    "dnf": "dnf install -y --setopt=install_weak_deps=False",
}
_TIDY: Mapping[str, str] = {"apt": "rm -rf /var/lib/apt/lists/*", "dnf": "dnf clean all"}


def _run(command: str, words: Iterable[str], after: str | None) -> str:
    lines = [f"RUN {command}", *(f"      {word}" for word in words)]
    return " \\\n".join(lines) + (f" && \\\n    {after}" if after else "")


def _shell(*commands: str) -> str:
    return "RUN " + " && \\\n    ".join(commands)


def _ofed(ofed: Ofed) -> str:
    archive = f"{ofed.folder}.tgz"
    commands = (
        'cd "$(mktemp -d)"',
        f"wget --no-verbose {ofed.site}/MLNX_OFED-{ofed.version}/{archive}",
        f'echo "{ofed.sha256}  {archive}" | sha256sum --check',
        f"tar -x -f {archive}",
        f"./{ofed.folder}/mlnxofedinstall --user-space-only --without-fw-update --force",
        'rm -rf "$PWD"',
    )
    return " && \\\n    ".join(commands)


def _fetch(repository: Repository) -> str:
    """Return commands that fetch one state and no history; a clone would take no commit."""
    folder = f"/opt/{repository.name}"
    commands = (
        f"git init --quiet {folder}",
        f"cd {folder}",
        f"git fetch --quiet --depth 1 {repository.uri} {repository.ref}",
        "git checkout --quiet FETCH_HEAD",
        *(["git submodule update --init --recursive --depth 1"] if repository.submodules else []),
    )
    return " && \\\n    ".join(commands)
