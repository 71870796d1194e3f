"""What is checked: files, and what a stack declares.

Reading a file never blocks on a device, never leaves a named folder and never fills the memory.
"""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from policies.manifests.documents import Aliases, NotReadable, documents
from policies.manifests.objects import Obj, objects
from policies.manifests.values import Tree, read
from toolkit.cli.check.texts import decode

_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")

_Patches = Callable[[Path], frozenset[Path]]

STDIN = "-"
LARGEST = 256 * 2**20
"""Bytes of a file; 10,000 jobs are some 14 MB."""
_SUFFIXES = (".yaml", ".yml", ".json")
_CHART = "Chart.yaml"


@dataclass(frozen=True, slots=True)
class Source:
    """A file to check, by the name under which it is reported, with its content or why that cannot be had."""

    name: str
    content: bytes = b""
    problem: str = ""
    note: str = ""


def sources(names: Iterable[str]) -> Iterator[Source]:
    """Yield what is named: files, the manifests of folders (sorted), and standard input for `-`; each once."""
    seen: set[str] = set()
    patches = cache(_patches)
    for name in names:
        for source in _named(name, patches):
            if source.name not in seen:
                seen.add(source.name)
                yield source


def _named(name: str, patches: _Patches) -> Iterator[Source]:
    if name == STDIN:
        yield _content("(standard input)", sys.stdin.buffer)
    elif Path(name).is_dir():
        files = list(_folder(Path(name), patches))
        yield from files or [Source(name, note=f"has no {', '.join(f'*{suffix}' for suffix in _SUFFIXES)}")]
    else:
        yield _manifest(Path(name), patches, pipes=True)


def _folder(root: Path, patches: _Patches) -> Iterator[Source]:
    inside = os.path.realpath(root)
    closed: list[OSError] = []
    for folder, folders, names in os.walk(root, onerror=closed.append):  # follows no links
        here = Path(folder)
        if _CHART in names:
            folders.clear()
            yield Source(str(here), note="is a Helm chart: check what `helm template` makes of it, e.g. with -f -")
            continue
        folders[:] = sorted(subfolder for subfolder in folders if not subfolder.startswith("."))
        for name in sorted(names):
            path = here / name
            if name.startswith(".") or not name.lower().endswith(_SUFFIXES):
                continue
            if name in _KUSTOMIZATIONS:
                yield Source(str(path), note="is a kustomization: check what `kustomize build` makes of it, with -f -")
            elif path.is_symlink() and os.path.commonpath((inside, os.path.realpath(path))) != inside:
                yield Source(str(path), note="is a link that leads out of the folder; name its target to check it")
            else:
                yield _manifest(path, patches, pipes=False)
    yield from (Source(str(error.filename), problem=f"cannot be read: {error.strerror}") for error in closed)


def _manifest(path: Path, patches: _Patches, *, pipes: bool) -> Source:
    """Read a file, unless a kustomization in its folder or in the one above names it as a patch."""
    whole = Path(os.path.normpath(path.absolute()))
    if any(whole in patches(folder) for folder in (whole.parent, whole.parent.parent)):
        return Source(str(path), note="is a patch of a kustomization: check what `kustomize build` makes, with -f -")
    return _file(path, pipes=pipes)


def _patches(folder: Path) -> frozenset[Path]:
    """Return the files that the kustomization of a folder takes for patches."""
    kustomization = next((path for name in _KUSTOMIZATIONS if (path := folder / name).is_file()), None)
    content = _file(kustomization, pipes=False).content if kustomization else b""
    return frozenset(Path(os.path.normpath(folder / name)) for name in _named_patches(content))


def _file(path: Path, *, pipes: bool) -> Source:
    """Read a file; `pipes` are for `<(helm template ...)`, which a user names and no folder contains."""
    try:
        # Without O_NONBLOCK, opening a pipe without a writer blocks for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not (stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode))):
                return Source(str(path), problem="is not a file; name files, folders or - for standard input")
            os.set_blocking(descriptor, True)
            return _content(str(path), file)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Source(str(path), problem=f"cannot be read: {reason}")


def _content(name: str, file: BinaryIO) -> Source:
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        return Source(name, problem=f"is larger than {LARGEST // 2**20} MiB; split it into several files")
    return Source(name, content)


def _named_patches(content: bytes) -> frozenset[str]:
    """Return the files that a kustomization names as patches, by their paths from its folder; none if it is broken."""
    try:
        text = decode(content)
        return frozenset(
            name for document in documents(text, Aliases.of(text), {}) for name in _patch_names(document.tree)
        )
    except NotReadable:
        return frozenset()


def _patch_names(tree: Tree) -> Iterator[str]:
    for field in _PATCHES:
        entries = read(tree, field)
        for entry in entries if isinstance(entries, list) else ():
            name = entry if isinstance(entry, str) else read(entry, "path")
            if isinstance(name, str) and "\n" not in name and "\0" not in name:  # with line ends it is the patch itself
                yield name


@dataclass(frozen=True)
class StackObjects:
    """What the settings of a stack declare; they are without errors."""

    file: str
    """The stack's file, relative to the repository."""
    configuration: dict[str, Any]
    """Levels and parameters of the rules."""
    declared: Sequence[Obj]
    beside: Sequence[Obj]
    """Objects of the platform that the stack depends on, where that is a stack of its own."""
    together: Sequence[Obj]
    """Both; several patches of an object are one."""
    warnings: Sequence[str]
    """What may be wrong with the settings."""
    own: Sequence[Path] = ()
    """Files of the manifests of its own, whose objects are among the declared."""
    root: Path = Path()
    """The project's folder."""
    selinux: str = "enforcing"
    """The mode of SELinux that the hosts' playbook sets."""


def of_stack(name: str) -> StackObjects:
    """Return what a stack declares; raise SettingsError for wrong settings."""
    # Imported here: they bring Pulumi, which takes half a second that a check of files alone need not wait.
    from stacks.checks import allowance, node, node_health  # noqa: PLC0415
    from stacks.layers import own_objects  # noqa: PLC0415
    from stacks.loading import settings  # noqa: PLC0415
    from toolkit.cli.shared.paths import ROOT  # noqa: PLC0415
    from toolkit.cli.shared.policy_configuration import configuration  # noqa: PLC0415
    from toolkit.render.manifests import manifests, platform_registrations, registrations  # noqa: PLC0415

    stack_settings = settings.load(name, ROOT)
    own, others = registrations(name, ROOT), platform_registrations(name, ROOT)
    declared, around, together = (
        [obj for manifest in manifests(recorded) for obj in objects(manifest)]
        for recorded in (own, others, (*others, *own))
    )
    return StackObjects(
        file=str(settings.file(name, ROOT).relative_to(ROOT)),
        configuration=configuration(stack_settings),
        declared=declared,
        beside=around,
        together=together,
        own=own_objects.files(stack_settings.objects, ROOT),
        root=ROOT,
        selinux=getattr(stack_settings.site.hosts, "selinux", "enforcing") if stack_settings.site else "enforcing",
        warnings=tuple(
            warning for check in (allowance, node, node_health) for warning in check.warnings(stack_settings)
        ),
    )
