"""Variables of templates that nothing has rendered: they are reported once a file, and judged nowhere."""

import re

from policies.manifests.documents import NotReadable
from policies.manifests.objects import Obj
from policies.manifests.templates import VARIABLE, unrendered
from toolkit.cli.check.texts import Chunk

_BEGIN, _END = "{{", "}}"
_BEGINS_A_VALUE = re.compile(r"[ \t]*(?:- +)*(?:[\w./-]+:[ \t]+)?\Z")
_IN_A_FLOW = re.compile(r"(?<!\$)[{\[][^\n]*?(\$\{\w)")
"""A variable with braces in a mapping or list with brackets, where YAML takes its braces for another one."""
_SHOWN = 5
_KINDS = frozenset({"PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Namespace"})
"""Kinds beside those with pods in which a variable is a value that is not known yet. In others, such as roles, the text
of a variable is a name, and stays one."""
_OF_CONTROLLERS = ("argoproj.io", "tekton.dev", "kyverno.io")
"""Groups whose controllers fill in `{{ }}` themselves."""


class Variables:
    """The variables of one file, each with line and column of its first place."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._places: dict[str, tuple[int, int]] = {}

    def left_open(self, subject: Obj, chunk: Chunk) -> Obj:
        """Return an object in which the variables of a template are unknown."""
        if subject.unknown or not VARIABLE.search(chunk.text) or not (subject.has_pods or subject.kind in _KINDS):
            return subject
        tree, unknown, names = unrendered(subject.tree)
        if not names or (subject.group in _OF_CONTROLLERS and all(name.startswith(_BEGIN) for name in names)):
            return subject
        for name in names:
            if name not in self._places:
                self._places[name] = chunk.position(max(chunk.text.find(name), 0))
        return Obj(tree, subject.origin, unknown=unknown)

    def explain(self, error: NotReadable, chunk: Chunk) -> bool:
        """Return whether a variable makes a text unreadable, which is then reported with the others."""
        offset = _offset(chunk.text, error)
        if offset is not None:
            braced = VARIABLE.match(chunk.text, offset) if chunk.text.startswith("$", offset) else None
            self._places.setdefault(braced[0] if braced else f"{_BEGIN} {_END}", chunk.position(offset))
        return offset is not None

    @property
    def place(self) -> tuple[int, int]:
        """Line and column of the first one."""
        return min(self._places.values())

    @property
    def message(self) -> str:
        """What is reported of the file; empty without any."""
        names = [*self._places]
        if not names:
            return ""
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        tool = "helm template" if any(name.startswith(_BEGIN) for name in names) else "envsubst"
        shown = f"{', '.join(names[:_SHOWN])}{more}"
        return f"is a template that is not rendered ({shown}): check what `{tool}` makes of it, e.g. with -f -"


def _offset(text: str, error: NotReadable) -> int | None:
    """Return where the variable is that makes a text unreadable; None when it is something else."""
    begin = text.rfind("\n", 0, error.begin) + 1
    end = text.find("\n", error.offset)
    here = text.find(_BEGIN, begin, end if end >= 0 else len(text))
    if here >= 0:
        return here
    if braced := _IN_A_FLOW.search(text, begin, end if end >= 0 else len(text)):
        return braced.start(1)
    last = text.rfind(_BEGIN, 0, begin)
    if last < 0 or text.find(_END, last, begin) >= 0:  # it ended on a line that was read
        return None
    return last if _BEGINS_A_VALUE.match(text, text.rfind("\n", 0, last) + 1, last) else None
