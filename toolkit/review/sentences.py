"""Sentences with names in them: what others chose is marked, so that each writer can keep it in its place.

A sentence is a plain string. `name` puts a value of a manifest between two marks, which no value can hold, and writers
turn that into a code span or leave the marks out.
"""

import re
from collections.abc import Collection, Iterable

from toolkit.review.model import Op, Resource

OPEN, CLOSE = "\ue000", "\ue001"
_PRIVATE = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
MOST = 120
"""Characters of a name that are shown: names in Kubernetes are rarely longer."""
_SHOWN = 6
_DONE = {
    Op.CREATE: "created",
    Op.UPDATE: "updated",
    Op.REPLACE: "replaced",
    Op.DELETE: "deleted",
    Op.ADOPT: "adopted",
    Op.FORGET: "forgotten",
    Op.SAME: "unchanged",
}
_DRIFTED = {Op.UPDATE: "changed", Op.DELETE: "gone"}
"""The same of what became of an object by itself."""
ORDER = (Op.CREATE, Op.UPDATE, Op.REPLACE, Op.DELETE, Op.ADOPT, Op.FORGET)


def visible(text: str) -> str:
    """Return the text on one line, with everything escaped that has no shape of its own: controls, direction marks."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def shortened(text: str, most: int) -> str:
    """Return the text with its middle left out where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    tail = most // 4
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def name(value: object, most: int = MOST) -> str:
    """Return a value of a manifest, marked as a name."""
    text = value if isinstance(value, str) else str(value)
    return f"{OPEN}{shortened(visible(shortened(text, 4 * most)), most)}{CLOSE}"


def quoted(text: str, most: int = 600) -> str:
    """Return a sentence of another program, on one line, without marks of its own."""
    lines = (visible(line.strip()) for line in shortened(text, 4 * most).splitlines())
    return shortened(" ".join(line for line in lines if line), most)


def parts(text: str) -> Iterable[tuple[bool, str]]:
    """Yield the parts of a sentence in order, each with whether it is a marked name."""
    for index, part in enumerate(_PRIVATE.split(text)):
        if part or index % 2:
            yield index % 2 == 1, part


def bare(text: str) -> str:
    """Return a sentence without marks."""
    return text.replace(OPEN, "").replace(CLOSE, "")


def enumerated(items: Collection[str], most: int = _SHOWN) -> str:
    """Write a list: `a, b and c`; what is beyond `most` is a number."""
    shown = list(items)[:most]
    rest = len(items) - len(shown)
    if rest:
        shown.append(f"{rest:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def names(values: Iterable[object], most: int = _SHOWN) -> str:
    """Return a list of marked names."""
    return enumerated([name(value) for value in values], most)


def ranges(values: Iterable[str], most: int = _SHOWN) -> str:
    """Return a list of marked names, with ranges of consecutive numbers: `a-0` to `a-9` and `b`."""
    runs: list[tuple[str, str, str, int]] = []  # stem, first, last and its number
    for value, stem, number in sorted(map(_numbered, values), key=lambda item: (item[1], item[2], item[0])):
        if runs and number >= 0 and (runs[-1][0], runs[-1][3]) == (stem, number - 1):
            runs[-1] = stem, runs[-1][1], value, number
        else:
            runs.append((stem, value, value, number))
    return enumerated([name(a) if a == b else f"{name(a)} to {name(b)}" for _, a, b, _ in runs], most)


def _numbered(value: str) -> tuple[str, str, int]:
    match = _NUMBER.search(value)
    return (value, value[: match.start()], int(match[0])) if match else (value, value, -1)


def _escaped(character: str) -> str:
    short_escapes = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    number = ord(character)
    return short_escapes.get(character) or (f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}")  # noqa: PLR2004


def participle(op: Op, *, drift: bool = False) -> str:
    """Return the participle of an operation, or of a change that was made out of band."""
    return _DRIFTED.get(op, _DONE[op]) if drift else _DONE[op]


def short_title(urn: str) -> str:
    """Return type and name of the resource of a URN: `Job mofed-test-job`."""
    *_, types, logical = urn.split("::")
    return f"{types.rpartition('$')[2].rpartition(':')[2]} {logical}"


def path(resource: Resource) -> str:
    """Return `namespace/name`, or the name of what has no namespace."""
    return f"{resource.namespace}/{resource.object_name}" if resource.namespace else resource.object_name


def title(resource: Resource) -> str:
    """Return kind and name: MPIJob `adas/nccl-test`."""
    if resource.is_object:
        patch = "patch of " if resource.is_patch else ""
        return f"{patch}{name(resource.kind)} {name(path(resource))}"
    return f"{name(resource.kind)} {name(resource.name)}"
