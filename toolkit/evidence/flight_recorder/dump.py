"""One dump: the rank that wrote it, its process groups, and the last operations of each."""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import PurePath, PurePosixPath
from typing import Any, BinaryIO, Literal

from pydantic import Field

from core.model import Model
from core.wording import plural
from toolkit.evidence.flight_recorder import pickles
from toolkit.evidence.model import Reading
from toolkit.evidence.parser import ending

FLIGHT_RECORDER = "flight-recorder"
"""Name of the tool."""
_JSON = re.compile(rb'\s*\{.{0,4000}"(?:entries|pg_config|pg_status)"\s*:', re.DOTALL)
_RANK = re.compile(r"(\d{1,7})(?:\.(?:json|pkl|pickle|gz))*$")
_LAST = 8
"""Operations of a group that are stored: the last ones."""

State = Literal["scheduled", "started", "completed"]


class Operation(Model):
    """A collective operation."""

    number: int = Field(description="of it in its process group, from 1")
    name: str = Field(description="e.g. nccl:all_reduce")
    state: State = Field(description="on the GPU; Gloo's stay scheduled")
    sizes: tuple[tuple[int, ...], ...] = Field(description="of its inputs")
    place: str | None = Field(default=None, description="FILE:LINE of the program that started it; None: not recorded")


class Group(Model):
    """A process group of the rank."""

    id: str
    name: str = Field(description="as it was described, e.g. default_pg")
    ranks: tuple[int, ...] = Field(description="of the job; empty: not recorded")
    enqueued: int = Field(description="number of the last operation that the rank started; -1: none")
    started: int = Field(description="number of the last one that began on the GPU; -1: none, or not recorded")
    completed: int = Field(description="number of the last one that ended; -1: none")
    last: tuple[Operation, ...] = Field(description=f"its last operations, at most {_LAST}")


class FlightRecorder(Reading):
    """The dump of one rank."""

    rank: int | None = Field(description="at the end of the file's name, as PyTorch writes it; None: none is there")
    operations: int = Field(description="that the dump holds")
    groups: tuple[Group, ...]

    def _figures(self) -> str:
        of = f"rank {self.rank}" if self.rank is not None else "an unknown rank"
        return f"{plural(self.operations, 'operation')} of {of}"


def is_dump(head: bytes) -> bool:
    """Return whether a file that begins like this is a dump, as a pickle or as JSON."""
    is_pickle = head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    return is_pickle or _JSON.match(head) is not None


def read(file: BinaryIO, name: str) -> FlightRecorder:
    """Return the reading of a dump; one that is damaged, or more than data, is incomplete and says why."""
    try:
        content = file.read(pickles.LARGEST + 1)
    except (EOFError, zlib.error):
        content = b""  # a damaged archive, which is no JSON
    match = _RANK.search(PurePath(name).name)
    rank = int(match[1]) if match is not None else None
    fault, version, operations = None, None, 0
    try:
        data = pickles.load(content) if content[:1] == b"\x80" else json.loads(content)
        groups, version, operations = _groups(data), _text(data.get("version")), len(data.get("entries", ()))
    except pickles.UnsafeError as error:
        fault, groups = f"not read: {error}", ()
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        fault, groups = f"not read: it is no dump of schema 2: {error!r}", ()
    return FlightRecorder(
        tool=FLIGHT_RECORDER,
        tool_version=version,
        file=name,
        first_line=1,
        last_line=1,
        rank=rank,
        operations=operations,
        groups=groups,
        **ending(fault),
    )


def _groups(data: Mapping[str, Any]) -> tuple[Group, ...]:
    configurations, status = data.get("pg_config", {}), data.get("pg_status", {})
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for entry in data.get("entries", ()):
        if not entry.get("is_p2p"):
            by_id.setdefault(_text(entry["pg_id"]), []).append(entry)
    groups = []
    for group in sorted({*map(_text, status), *by_id}):
        entries = by_id.get(group, [])
        names = tuple(map(_text, entries[-1].get("process_group", ()))) if entries else ()
        # Groups are configured by name; where there is one only, Gloo leaves its name empty.
        named = [configurations[key] for key in (*names[:1], group) if key in configurations]
        configuration: Mapping[str, Any] = named[0] if named else {}
        if not configuration and len(configurations) == 1:
            configuration = next(iter(configurations.values()))
        counts = status.get(group, {})
        last = [_operation(entry) for entry in entries[-_LAST:]]
        groups.append(
            Group(
                id=group,
                name=(names[1:2] or (_text(configuration.get("desc") or group),))[0],
                ranks=_ranks(configuration.get("ranks", "")),
                enqueued=int(counts.get("last_enqueued_collective", last[-1].number if last else -1)),
                started=int(counts.get("last_started_collective", -1)),
                completed=int(counts.get("last_completed_collective", -1)),
                last=tuple(last),
            )
        )
    return tuple(groups)


def _ranks(text: object) -> tuple[int, ...]:
    try:
        ranks = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return ()
    return tuple(map(int, ranks)) if isinstance(ranks, Sequence) else ()


def _text(value: object) -> str:
    """Return a text or number as text; raise TypeError for a container, whose text may be endless."""
    if not isinstance(value, str | int | None):
        raise TypeError(f"{type(value).__name__} in place of a text")
    return str(value)


def _operation(entry: Mapping[str, Any]) -> Operation:
    frames = [
        f"{PurePosixPath(frame['filename'])}:{frame['line']}"
        for frame in entry.get("frames", ())
        if "/torch/" not in frame["filename"]
    ]
    return Operation(
        number=int(entry["collective_seq_id"]),
        name=_text(entry["profiling_name"]),
        state=entry["state"],
        sizes=tuple(tuple(map(int, sizes)) for sizes in entry.get("input_sizes", ())),
        place=frames[0] if frames else None,
    )
