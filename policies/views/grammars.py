"""The grammars of names in Kubernetes, and of values of fields."""

import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache, partial
from typing import NamedTuple, TypeAlias

from core.apis.field_values import PORT_RANGE, PORTS, QUANTITIES, QUANTITY, WORDS
from core.apis.fields import Content
from policies.manifests.values import Tree, brief

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253
PORT_LENGTH = 15

_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})*")
_WORD = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PORT = re.compile(r"(?=[^a-z]*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*")


@lru_cache(maxsize=4096)
def is_label(name: str) -> bool:
    """Return whether it is a label of DNS (RFC 1123), as names of containers, volumes and namespaces are."""
    return len(name) <= LABEL_LENGTH and _LABEL.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_subdomain(name: str) -> bool:
    """Return whether it is labels of DNS (RFC 1123) with dots between, as most names are."""
    return len(name) <= SUBDOMAIN_LENGTH and _SUBDOMAIN.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_segment(name: str) -> bool:
    """Return whether it may be part of a path, as names of RBAC's objects: everything but `/`, `%`, `.` and `..`."""
    return name not in (".", "..") and "/" not in name and "%" not in name


@lru_cache(maxsize=4096)
def is_qualified(name: str) -> bool:
    """Return whether it is a key of labels, or a resource: a name, perhaps after a DNS prefix and `/`."""
    prefix, slash, word = name.rpartition("/")
    return (not slash or is_subdomain(prefix)) and is_label_value(word) and bool(word)


@lru_cache(maxsize=4096)
def is_label_value(value: str) -> bool:
    """Return whether it may be a label's value."""
    return not value or (len(value) <= LABEL_LENGTH and _WORD.fullmatch(value) is not None)


@lru_cache(maxsize=4096)
def is_port(name: str) -> bool:
    """Return whether it is the name of a port (IANA): 15 lowercase letters, digits and single dashes, with a letter."""
    return len(name) <= PORT_LENGTH and _PORT.fullmatch(name) is not None


_BYTES = re.compile(r"(\d{1,18}(?:\.\d{1,9})?) ?([kKMGTP])i?[bB]")
_OTHERWISE = "Write a quantity: a number, with a suffix of the API or without: 500m, 2, 64Gi, 1G"
_CLOSE = 0.6
_LONGEST = 64


class Fault(NamedTuple):
    """What is wrong, as the end of a sentence about the field, and what to do."""

    problem: str
    remedy: str


Closer: TypeAlias = Callable[[Tree], Fault | None]

_TYPES = {
    Content.TEXT: "Write a text, in quotes where it looks like a number or like true",
    Content.NUMBER: "Write a whole number, without quotes",
    Content.FLAG: "Write true or false, without quotes",
    Content.OBJECT: "Write an object: its fields, indented below the name",
    Content.MAP: "Write an object: names with their values, indented below the name",
    Content.TEXTS: "Write an object: names with texts, indented below the name",
    Content.QUANTITIES: "Write an object: resources with quantities, indented below the name",
}
LIST = "Write a list: each entry on a line of its own behind a dash, or [a, b]"


def of_type(content: Content) -> str:
    """Return the remedy for a value of another type."""
    return _TYPES.get(content, "")


def value_check(type_name: str, field: str) -> Closer | None:
    """Return what looks closer at the values of a field, or None where the type is all there is to say."""
    place = (type_name, field)
    if place in WORDS:
        return partial(_word, WORDS[place])
    if place in PORTS:
        return _port
    return quantity if place in QUANTITIES else None


def _word(words: frozenset[str], value: Tree) -> Fault | None:
    if value == "" or value in words:
        return None
    close = get_close_matches(str(value)[:_LONGEST].casefold(), {word.casefold(): word for word in words}, 1, _CLOSE)
    close_word = next((word for word in words if close and word.casefold() == close[0]), "")
    listed = ", ".join(sorted(words))
    return Fault(f"is {brief(value)} where one of {listed} is expected", f"Write {close_word or f'one of {listed}'}")


def _port(value: Tree) -> Fault | None:
    if isinstance(value, str) or value == 0 or value in PORT_RANGE:
        return None
    span = f"{PORT_RANGE[0]} to {PORT_RANGE[-1]}"
    return Fault(f"is {brief(value)}, which is not a port", f"Write a port from {span}")


def quantity(value: Tree) -> Fault | None:
    """Return what is wrong with a quantity; an absent one counts as none."""
    if value is None or (value.__class__ is int or (isinstance(value, float) and math.isfinite(value))):
        return None
    if isinstance(value, str):
        return _quantity(value) if len(value) <= _LONGEST else Fault("is not a quantity", _OTHERWISE)
    return Fault(f"is {brief(value)} where a quantity is expected", _OTHERWISE)


@lru_cache(maxsize=1024)
def _quantity(value: str) -> Fault | None:
    if QUANTITY.fullmatch(value):
        return None
    size = _BYTES.fullmatch(value)
    number, unit = size.groups() if size else ("", "")
    remedy = f"Write {number}{unit.upper()}i, or {number}{'k' if unit in 'kK' else unit} for powers of ten"
    return Fault(f"is {brief(value)}, which is not a quantity", remedy if size else _OTHERWISE)
