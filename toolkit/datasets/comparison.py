"""Two locks of a data set, compared: frames, bytes, which classes gain and lose, and how far distributions differ.

The distance of two distributions of classes is the total variation of the shares of pixels: half the sum of the
differences, 0 for equal distributions and 1 for those that share no class. A network is judged by frames that are like
those of its operating domain.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from core.datasets.lock import Chosen, Lock
from core.errors import DataSetError
from core.model import Model


class CountChange(NamedTuple):
    """A number before and after."""

    before: int
    after: int

    @property
    def by(self) -> int:
        """The increase; negative for a decrease."""
        return self.after - self.before

    @property
    def factor(self) -> float:
        """How many times as much it is as before; infinity where there was none."""
        return self.after / self.before if self.before else math.inf


class Difference(Model):
    """What differs between two choices; numbers that are the same are left out."""

    frames: CountChange
    files: CountChange
    bytes: CountChange
    classes: dict[str, CountChange]
    """Frames with a class, by class: those that change."""
    same_files: bool
    """Whether both are exactly the same files."""

    @property
    def gained(self) -> Mapping[str, CountChange]:
        """Classes with more frames, the largest relative gain first."""
        ranked = sorted((-change.factor, name) for name, change in self.classes.items() if change.by > 0)
        return {name: self.classes[name] for _, name in ranked}

    @property
    def lost(self) -> Mapping[str, CountChange]:
        """Classes with fewer frames, the largest relative loss first."""
        ranked = sorted((change.factor, name) for name, change in self.classes.items() if change.by < 0)
        return {name: self.classes[name] for _, name in ranked}

    @property
    def vanished(self) -> tuple[str, ...]:
        """Classes of which no frame is left."""
        return tuple(name for name, change in self.lost.items() if change.after == 0)


def difference(before: Chosen, after: Chosen) -> Difference:
    """Return what changes from one choice to another."""
    return Difference(
        frames=CountChange(before.frames, after.frames),
        files=CountChange(before.files, after.files),
        bytes=CountChange(before.bytes, after.bytes),
        classes={
            name: change
            for name in sorted({*before.frames_by_class, *after.frames_by_class})
            if (change := CountChange(before.frames_by_class.get(name, 0), after.frames_by_class.get(name, 0))).by
        },
        same_files=before.digest == after.digest,
    )


def differences(before: Lock, after: Lock) -> Iterator[tuple[str, Difference]]:
    """Yield what changes of the whole set, called by an empty name, and of each split that both have."""
    yield "", difference(before, after)
    for name, split in after.splits.items():
        if name in before.splits:
            yield name, difference(before.splits[name], split)


def shares(pixels: Mapping[str, int]) -> dict[str, float]:
    """Return the share of each class in all pixels, 0 to 1; raise DataSetError where there are none."""
    total = sum(pixels.values())
    if not total:
        raise DataSetError("no pixels of any class are known, so there is no distribution; select again")
    return {name: number / total for name, number in pixels.items()}


def total_variation(pixels: Mapping[str, int], other_pixels: Mapping[str, int]) -> float:
    """Return the distance of two distributions, given as pixels of each class."""
    return sum(map(abs, share_differences(pixels, other_pixels).values())) / 2


def share_differences(pixels: Mapping[str, int], other_pixels: Mapping[str, int]) -> dict[str, float]:
    """Return by class its share of all pixels less its share of the other pixels, -1 to 1."""
    first, second = shares(pixels), shares(other_pixels)
    return {name: first.get(name, 0.0) - second.get(name, 0.0) for name in sorted({*first, *second})}
