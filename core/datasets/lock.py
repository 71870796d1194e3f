"""The lock of a data set: what was chosen, in numbers and digests, as a file under review.

`./hpc data select` writes it as JSON with a seal, the SHA-256 of all else in it: a lock edited manually is refused. The
settings are judged by locks alone, so that a preview needs neither the catalogue nor the network.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AwareDatetime, Field, StringConstraints, ValidationError, model_validator

from core import data_files, field_errors
from core.errors import DataSetError
from core.model import Model

SEAL = "seal"
"""The field of the file that has the digest of the others."""

DataSetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$")]
"""Name of a data set: short enough for names of Jobs, which carry it with a part of its digest."""
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]


class Chosen(Model):
    """Frames that were chosen, in numbers: those of a data set, or of one of its splits."""

    frames: Count = Field(description="images, each with its companions")
    files: Count = Field(description="lines of the list: images and companions")
    bytes: Count = Field(description="of all files")
    digest: Digest = Field(description="SHA-256 of the list, in hex (toolkit/datasets/file_list.py)")
    frames_by_class: dict[str, Count] = Field(
        description="frames that have at least one pixel of a class, for every class of the card"
    )
    pixels_by_class: dict[str, Count] = Field(
        default={}, description="pixels of a class in all frames, for every class of the card; empty: not known"
    )

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        if self.files < self.frames:
            raise ValueError(f"files {self.files} are fewer than frames {self.frames}; select again")
        for name, frames in self.frames_by_class.items():
            if frames > self.frames:
                raise ValueError(f"frames_by_class.{name} {frames} is more than frames {self.frames}; select again")
        return self


class Lock(Chosen):
    """One data set as it was chosen."""

    name: DataSetName = Field(description="of the data set")
    card: str = Field(min_length=1, description="name of the data set's card")
    query: str = Field(min_length=1, description="query to the catalogue, SQL")
    source: str = Field(min_length=1, description="kind of the catalogue, e.g. sqlite, discover")
    as_of: AwareDatetime = Field(description="when the catalogue was last brought up to date")
    choice: dict[str, Any] = Field(description="the settings that it was selected with: changed ones need a new lock")
    splits: dict[DataSetName, Chosen] = Field(default={}, description="parts by name, e.g. train; {}: not split")

    @model_validator(mode="after")
    def _splits_add_up(self) -> Self:
        for field in ("frames", "files", "bytes") if self.splits else ():
            parts = sum(getattr(split, field) for split in self.splits.values())
            if parts != getattr(self, field):
                raise ValueError(f"splits have {parts} {field}, and the set {getattr(self, field)}; select again")
        return self


def text(lock: Lock) -> str:
    """Return the file of a lock: JSON with sorted keys and the seal, the same for equal locks."""
    content = lock.model_dump(mode="json")
    return json.dumps({**content, SEAL: _seal(content)}, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read(path: Path, display_name: str | None = None) -> Lock:
    """Return the lock in a file, which messages call `shown`; raise DataSetError where there is none or it is wrong."""
    name = display_name or data_files.display_path(path)
    again = "write it again with `./hpc data select`"
    try:
        content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_unique_keys)
    except FileNotFoundError:
        raise DataSetError(f"{name} is missing; write it with `./hpc data select`, and commit it") from None
    except OSError as error:
        raise DataSetError(f"{name} cannot be read ({error.strerror}); correct the path or the file") from None
    except (ValueError, RecursionError) as error:
        raise DataSetError(f"{name} is not JSON ({error}); {again}") from None
    if not isinstance(content, dict):
        raise DataSetError(f"{name} is not a lock; {again}")
    seal = content.pop(SEAL, None)
    if seal != (computed := _seal(content)):
        raise DataSetError(
            f"{name}: seal {seal!r} is not that of its content, {computed}: the lock was edited manually; change the "
            f"settings instead, and {again}"
        )
    try:
        return Lock.model_validate(content)
    except ValidationError as errors:
        problems = "; ".join(
            f"{'.'.join(map(str, error['loc']))}: {field_errors.problem(error)}".removeprefix(": ")
            for error in errors.errors(include_url=False)
        )
        raise DataSetError(f"{name}: {problems}; {again}") from None


def _unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise ValueError(f"{key} is given twice")
        fields[key] = value
    return fields


def _seal(content: Mapping[str, Any]) -> str:
    """Return the digest of a lock's fields in their one canonical form."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogateescape")).hexdigest()
