"""Frames divided into parts by whole scenes: no part has an image that is nearly one of another part."""

import hashlib
from collections.abc import Mapping, Sequence

from core.errors import DataSetError


def mixed(name: str) -> bytes:
    """Return the sort key of names in an order that is random, and always the same."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()


def parts(frames_by_scene: Mapping[str, int], shares: Mapping[str, float]) -> dict[str, str]:
    """Return the part of every scene; the order of scenes and of shares does not matter.

    The largest scenes come first, each into the part that lacks the most frames, so that small ones level the rest.
    Raises DataSetError where a part gets none.
    """
    total = sum(frames_by_scene.values())
    remaining = {name: shares[name] * total for name in sorted(shares)}
    part_of_scene: dict[str, str] = {}
    for scene in sorted(frames_by_scene, key=lambda name: (-frames_by_scene[name], mixed(name))):
        part = max(remaining, key=remaining.__getitem__)
        remaining[part] -= frames_by_scene[scene]
        part_of_scene[scene] = part
    if empty := sorted(set(shares) - set(part_of_scene.values())):
        raise DataSetError(
            f"split.parts.{empty[0]} {shares[empty[0]]:g}: no scene is left for it, for there are "
            f"{_scenes(list(frames_by_scene))}; choose more frames, or fewer parts"
        )
    return part_of_scene


def _scenes(names: Sequence[str]) -> str:
    return f"{len(names)} scenes of different sizes" if len(names) != 1 else f"one scene alone, {names[0]}"
