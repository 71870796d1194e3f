"""Places of settings in their file: of what pydantic refuses, and of what rules across settings say."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stacks.resolved import jobs
from stacks.settings import cluster as cluster_settings
from stacks.settings import workloads as workload_settings
from stacks.settings.origins import Place
from stacks.settings.platform import Settings
from stacks.settings.workloads import Stage

_PATH = re.compile(r"[A-Za-z_][\w-]*(?:\[\d+\]|\.[\w/-]+)*")
_NAMES = ("namespace", "name", "class_name", "id", "volume", "level")
"""Fields that entries of lists are called by."""


def as_written(place: Sequence[str | int], data: Any) -> Place:
    """Return a place with the indices of entries as in the file: nodes, and jobs on nodes, with a range are one."""
    match place:
        case ("nodes", int(index), *rest):
            return ("nodes", cluster_settings.entries(data["nodes"])[index], *rest)
        case ("stages", int(stage), "workloads", int(index), *rest):
            entries = workload_settings.entries(data["stages"][stage]["workloads"])
            return ("stages", stage, "workloads", entries[index], *rest)
    return tuple(place)


def of_problem(problem: str, settings: Settings) -> Place:
    """Return the place that the message of a rule is about, by the settings that it begins with and the entry it names.

    `tenants: gpu_quota 33 of adas` is about the field of that tenant, `stages: job nccl-test-02x08: layout` about that
    of the job. What the message does not say is left out, and so is what the settings do not have.
    """
    match = _PATH.match(problem)
    if match is None:
        return ()
    place, value = _resolve_path(settings, match[0])
    rest = problem[match.end() :]
    while isinstance(value, tuple) and (entry := _entry(value, rest, settings)):
        inner, value, named = entry
        place += inner
        behind = rest[named:].removeprefix("'")
        field = _PATH.match(behind.removeprefix(": ") if behind.startswith(": ") else rest.removeprefix(": "))
        more, value = _resolve_path(value, field[0]) if field else ((), value)
        place += more
        rest = behind
    return place


def _resolve_path(value: Any, path: str) -> tuple[Place, Any]:
    """Return how far a path leads from a value, and what is there; a list's entry has an index, or a step's name."""
    place: Place = ()
    for step in re.findall(r"[^.\[\]]+", path):
        if isinstance(value, tuple):
            named = (index for index, entry in enumerate(value) if step in (*_entry_names(entry), str(index)))
            index = next(named, None)
            if index is None:
                break
            place, value = (*place, index), value[index]
        elif isinstance(value, Mapping) and step in value:
            place, value = (*place, step), value[step]
        elif step in getattr(type(value), "model_fields", ()):
            place, value = (*place, step), getattr(value, step)
        else:
            break
    return place, value


def _entry(entries: tuple[Any, ...], text: str, settings: Settings) -> tuple[Place, Any, int] | None:
    """Return place and value of the entry that a text names first, and where its name ends.

    Of several with that name it is the one with more of its values in the problem; or the last: the first may stay.
    """
    problem = text.partition(";")[0]
    named: list[tuple[tuple[int, int], tuple[Place, Any, int]]] = []
    for place, entry, names in _named_entries(entries, settings):
        for name in names:
            if match := re.search(rf"(?:\bof |\bjob |^: |^ |')({re.escape(name)})(?=[\s:',;]|$)", text):
                mentions = sum(value in problem for value in {*_values(entry)})
                named.append(((match.start(1), -mentions), (place, entry, match.end(1))))
    return min(reversed(named), key=lambda candidate: candidate[0])[1] if named else None


def _named_entries(entries: tuple[Any, ...], settings: Settings) -> Iterator[tuple[Place, Any, list[str]]]:
    """Yield the entries of a list with what messages call them; of stages their workloads."""
    for index, entry in enumerate(entries):
        if not isinstance(entry, Stage):
            yield (index,), entry, [*_entry_names(entry), *_values(entry)]
            continue
        for number, workload in enumerate(entry.workloads):
            name = _job(workload, settings)
            yield (index, "workloads", number), workload, [name, f"{workload.tenant}/{name}", workload.name]


def _job(workload: workload_settings.Workload, settings: Settings) -> str:
    try:
        return jobs.resolve(workload, settings).name
    except (KeyError, ValueError):
        # An unknown program, tenant or layout, which a rule reports.
        return workload.name


def _entry_names(entry: Any) -> list[str]:
    names = [str(getattr(entry, name)) for name in _NAMES if getattr(entry, name, None)]
    return [*names, *(f"{entry.tenant}/{name}" for name in names if hasattr(entry, "tenant"))]


def _values(entry: Any) -> Iterator[str]:
    """Yield the texts of an entry's own fields, by which messages of duplicates name it."""
    if isinstance(entry, str):
        yield entry
    for name in getattr(type(entry), "model_fields", ()):
        value = getattr(entry, name)
        if isinstance(value, str) and value:
            yield value
