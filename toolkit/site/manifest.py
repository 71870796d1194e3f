"""The list of files in a folder, by which a later call knows its own files and which of them are stale."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256

from pydantic import Field, ValidationError

from core.model import Model
from toolkit.site.output import File

NAME = "MANIFEST.json"


class Entry(Model):
    """One file."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    sources: tuple[str, ...] = Field(description="source ids (docs/coverage/sources.md) of what the file does")


class Manifest(Model):
    """All files of a folder, and what they were written from."""

    stack: str
    files: dict[str, Entry] = Field(description="by path from the folder")


def digest(data: bytes) -> str:
    """Return the digest of a file's content."""
    return sha256(data).hexdigest()


def of(files: Iterable[File], stack: str) -> Manifest:
    """Return the manifest of files that are about to be written."""
    entries = {file.path: Entry(sha256=digest(file.text.encode()), sources=file.sources) for file in files}
    return Manifest(stack=stack, files=entries)


def to_text(manifest: Manifest) -> str:
    """Return a manifest as it is stored."""
    return json.dumps(manifest.model_dump(mode="json"), indent=2) + "\n"


def from_text(text: str) -> Manifest:
    """Return a stored manifest; raise ValueError for a text that is none."""
    try:
        return Manifest.model_validate_json(text)
    except ValidationError:
        raise ValueError(f"{NAME} is none that this program wrote") from None


def stale(stored: Manifest, current: Manifest, present: Mapping[str, str]) -> dict[str, str]:
    """Return the problem of each file that differs from what would be written now; `present` has digests by path."""
    problems = {}
    for path in sorted({*stored.files, *current.files}):
        old, now, digest = stored.files.get(path), current.files.get(path), present.get(path)
        if now is None:
            problems[path] = "the settings no longer need it"
        elif old is None:
            problems[path] = "missing: the settings need it now"
        elif digest is None:
            problems[path] = "missing: it was removed"
        elif digest != old.sha256:
            problems[path] = "edited since it was written"
        elif digest != now.sha256:
            problems[path] = "stale: the settings changed"
    return problems
