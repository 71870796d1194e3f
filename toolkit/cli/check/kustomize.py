"""Which files a kustomization takes for patches: they have some fields of an object, and are none by themselves."""

from collections.abc import Iterator

from policies.documents import Aliases, NotReadable, documents
from policies.values import Tree, read
from toolkit.cli.check.texts import decode

FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_FIELDS = ("patches", "patchesStrategicMerge", "patchesJson6902")


def patches(content: bytes) -> frozenset[str]:
    """Return the files that a kustomization names as patches, by their paths from its folder; none if it is broken."""
    try:
        text = decode(content)
        return frozenset(name for each in documents(text, Aliases.of(text), {}) for name in _named(each.tree))
    except NotReadable:
        return frozenset()


def _named(tree: Tree) -> Iterator[str]:
    for field in _FIELDS:
        entries = read(tree, field)
        for entry in entries if isinstance(entries, list) else ():
            name = entry if isinstance(entry, str) else read(entry, "path")
            if isinstance(name, str) and "\n" not in name and "\0" not in name:  # with line ends it is the patch itself
                yield name
