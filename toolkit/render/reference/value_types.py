"""The named value types of the program: `Name = Annotated[...]` or `Literal[...]` with a text below it."""

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import StringConstraints
from pydantic.fields import FieldInfo

from toolkit.render.reference import type_text

_WORDS = re.compile(r"[A-Z][a-z]+|[A-Z]+(?![a-z])|\d+")
_SHORT = {
    "Dns": "DNS",
    "Mcs": "MCS",
    "Rdma": "RDMA",
    "Pci": "PCI",
    "Hca": "HCA",
    "Gpu": "GPU",
    "Mac": "MAC",
    "Mtu": "MTU",
}


@dataclass(frozen=True)
class ValueType:
    """A named value type."""

    name: str
    annotation: Any
    text: str

    @property
    def title(self) -> str:
        """Its name as words: DnsLabel is a DNS label."""
        first, *others = _WORDS.findall(self.name)
        return " ".join([_SHORT.get(first, first.lower()), *(_SHORT.get(word, word.lower()) for word in others)])

    @property
    def pattern(self) -> str:
        """The regular expression that a value matches; empty if it has none."""
        for item in get_args(self.annotation)[1:]:
            if isinstance(item, StringConstraints) and item.pattern is not None:
                return str(item.pattern)
            if isinstance(item, FieldInfo):
                patterns = [getattr(metadata, "pattern", None) for metadata in item.metadata]
                return next((str(pattern) for pattern in patterns if pattern), "")
        return ""


@cache
def defined_in(package: Path) -> tuple[ValueType, ...]:
    """Return the value types that the modules of a package define, sub-packages included."""
    return tuple(value_type for file in sorted(package.rglob("*.py")) for value_type in _defined(file, package))


def by_identity(packages: Iterable[Path]) -> dict[int, ValueType]:
    """Return the value types of several packages, by the identity of their annotation."""
    return {id(value_type.annotation): value_type for package in packages for value_type in defined_in(package)}


def _defined(file: Path, package: Path) -> Iterator[ValueType]:
    body = ast.parse(file.read_text()).body
    for index, node in enumerate(body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_annotated(node.value):
            name = node.targets[0].id
            annotation = getattr(importlib.import_module(_module(file, package)), name)
            if get_origin(annotation) is Annotated and not type_text.models(annotation):
                below = body[index + 1] if index + 1 < len(body) else None
                yield ValueType(name, annotation, _text(below))


def _is_annotated(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Annotated"


def _module(file: Path, package: Path) -> str:
    return ".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")


def _text(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return " ".join(node.value.value.split())
    return ""
