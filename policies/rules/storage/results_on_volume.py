"""Results, models and logs of a job are written to a volume."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from posixpath import normpath

from pydantic import Field

from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Path, Unknown
from policies.rule import Parameters, Rule, Severity
from policies.views.command_lines import Command, commands, text
from policies.views.devices import gpus

_KINDS = frozenset(
    {"result", "results", "model", "log", "logs", "train", "checkpoint", "checkpoints", "ckpt", "output", "out"}
    | {"save", "summary", "summaries", "export", "tensorboard"}
)
_HINT = re.compile(r"(?:dir|directory|path|folder|checkpoints?|results)[= ][\"' ]*/", re.IGNORECASE)
_DEEPEST = 64
_ALONE = frozenset({"checkpoint", "checkpoints", "results", "logdir", "outdir"})


class ResultsOnVolume(Parameters):
    """Where nothing needs to be kept."""

    scratch: tuple[str, ...] = Field(
        default=("/tmp", "/dev"),  # noqa: S108 - a value of manifests
        description="folders whose content need not outlive the pod",
    )


def _examine(subject: Obj, _: Inventory, parameters: ResultsOnVolume) -> Iterator[Violation]:
    if subject.kind == "MPIJob":
        pods = {pod.role: pod for pod in subject.pods}
        launcher, worker = pods.get("Launcher"), pods.get("Worker")
        for container in launcher.containers if launcher is not None else ():
            # The launcher's command line is the workers' one.
            yield from _container(container, worker or launcher, parameters.scratch)
        return
    for pod in subject.pods:
        for container in pod.containers:
            if gpus(container):
                yield from _container(container, container, parameters.scratch)


def _container(container: Container, writer: Container | Pod | None, scratch: Sequence[str]) -> Iterator[Violation]:
    line = text(container)
    if "/" not in line or _HINT.search(line) is None:
        return
    seen: set[str] = set()
    writers = _writers(writer)
    mounted = {normpath(folder) for folder in (*scratch, *(path for source in writers for path in _mounts(source)))}
    hidden = any(source.hidden("volumeMounts") for source in writers)
    for command in commands(container):
        for option, path, place in _paths(command):
            if path in seen or _below(path, mounted):
                continue
            seen.add(path)
            if not hidden:
                yield container.violation(
                    f"{option} {path[:80]} is on no volume of the containers that write it", *place
                )


def _writers(writer: Container | Pod | None) -> Sequence[Container]:
    if isinstance(writer, Pod):
        return [container for container in writer.containers if container.group == "containers"]
    return [writer] if writer is not None else []


def _mounts(container: Container) -> Iterator[str]:
    for index, entry in enumerate(container.entries("volumeMounts")):
        path = entry.get("mountPath") if isinstance(entry, Mapping) else None
        if isinstance(path, str):
            yield path
        elif isinstance(path, Unknown):
            container.read("volumeMounts", index)


def _paths(command: Command) -> Iterator[tuple[str, str, Path]]:
    """Yield the absolute paths of options that name results: the option, the path, the field that has it."""
    words = command.words
    for index, word in enumerate(words):
        if word[:1] != "-":
            continue
        option, equals, value = word.partition("=")
        if not _names_results(option):
            continue
        holder = index if equals else index + 1
        path = value if equals else words[holder] if holder < len(words) else ""
        if path.startswith("/") and "$" not in path:
            yield option, normpath(path), command.place(holder)


def _names_results(option: str) -> bool:
    name = option.lstrip("-").lower().replace("-", "_")
    if name in _ALONE:
        return True
    end = next((end for end in ("dir", "directory", "path", "folder") if name.endswith(end)), None)
    return end is not None and name.removesuffix(end).rstrip("_").rpartition("_")[2] in _KINDS


def _below(path: str, folders: Set[str]) -> bool:
    parts = path.split("/")[:_DEEPEST]
    return any(("/".join(parts[:end]) or "/") in folders for end in range(1, len(parts) + 1))


RESULTS_ON_VOLUME = Rule(
    name="results-on-volume",
    what="A folder to which a GPU job writes results, models, checkpoints or logs is on a volume of the "
    "containers that write it.",
    why="A pod's own file system is deleted with the pod. The job succeeds and its model is gone, or it fails with "
    "`Permission denied`, since an ordinary user may not create a folder in /.",
    remedy="Mount a volume at that folder in the workers, or use a folder below one that is mounted",
    source="E-54",
    severity=Severity.MANDATORY,
    parameters=ResultsOnVolume,
    examine=_examine,
)
