"""Versions of operators: what a channel's name says of them, and which of two ClusterServiceVersions is later."""

import re

from core.apis.operators import operators

_MINOR = re.compile(r"(?:^|[-.])v?(\d+)\.(\d+)$")
_NUMBER = re.compile(r"\d+")


def numbered(package: str, channel: str) -> str:
    """Return a regular expression for names of ClusterServiceVersions of a channel that names their minor version.

    For channel v26.3 it matches `gpu-operator-certified.v26.3.1`. Empty where the name of the channel promises nothing.
    It is valid in Python and as RFC 9485 has it.
    """
    declared = next((operator for operator in operators().values() if operator.package == package), None)
    minor = _MINOR.search(channel) if declared is not None and declared.numbered_channels else None
    return f"[.]v?{minor[1]}[.]{minor[2]}[.]" if minor else ""


def is_later(version: str, than: str) -> bool:
    """Whether a ClusterServiceVersion of a package is a later one than another of it, by the numbers in their names."""
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, _NUMBER.findall(version.partition(".")[2])))
