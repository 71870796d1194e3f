"""Objects out of files, for commands that judge them."""

from collections.abc import Iterable
from typing import Any

from policies.manifests.documents import Aliases, NotReadable, documents
from policies.manifests.objects import objects as opened_objects
from policies.views.admission_fields import pruned
from toolkit.cli.check.sources import Source, sources
from toolkit.cli.check.texts import chunks, decode


class Unreadable(Exception):
    """A file that cannot be read; the message names file and line."""


def objects(names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the objects of files, of folders' files and of standard input (`-`), those of Lists one by one."""
    return [obj for source in sources(names) for obj in _objects(source)]


def _objects(source: Source) -> Iterable[dict[str, Any]]:
    if source.problem:
        raise Unreadable(f"{source.name}: {source.problem}")
    try:
        text = decode(source.content)
    except NotReadable as error:
        raise Unreadable(f"{source.name}: {error}") from None
    aliases, scalars = Aliases.of(text), dict[str, Any]()
    for chunk in chunks(text):
        try:
            for document in documents(chunk.text, aliases, scalars):
                for obj in opened_objects(document.tree):  # what a controller fills in decides nothing here
                    yield pruned(obj.tree) if obj.unknown else dict(obj.tree)
        except NotReadable as error:
            raise Unreadable(f"{source.name}:{chunk.position(error.offset)[0]}: {error}") from None
