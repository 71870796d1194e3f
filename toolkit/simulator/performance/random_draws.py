"""Deterministic spread: the same run of the same job has the same figures, another one slightly others."""

import hashlib
from random import Random

__all__ = ["Random", "draws", "number"]


def draws(*of: object) -> Random:
    """Return a source of random numbers that depends on `of` alone, in any process."""
    return Random("/".join(map(str, of)))  # noqa: S311 - figures of a simulated machine, no secret


def number(bits: int, *of: object) -> int:
    """Return a number of so many bits that depends on `of` alone."""
    return int(hashlib.sha256("/".join(map(str, of)).encode()).hexdigest(), 16) % (1 << bits)
