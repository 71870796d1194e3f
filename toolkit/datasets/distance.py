"""How far the distribution of classes in one choice is from that in another.

The distance is the total variation of the shares of pixels: half the sum of the differences, 0 for equal distributions
and 1 for those that share no class. A network is judged by frames that are like those of its operating domain.
"""

from collections.abc import Mapping

from core.errors import DataSetError


def shares(pixels: Mapping[str, int]) -> dict[str, float]:
    """Return the share of each class in all pixels, 0 to 1; raise DataSetError where there are none."""
    total = sum(pixels.values())
    if not total:
        raise DataSetError("no pixels of any class are known, so there is no distribution; select again")
    return {name: number / total for name, number in pixels.items()}


def total_variation(pixels: Mapping[str, int], other_pixels: Mapping[str, int]) -> float:
    """Return the distance of two distributions, given as pixels of each class."""
    return sum(map(abs, differences(pixels, other_pixels).values())) / 2


def differences(pixels: Mapping[str, int], other_pixels: Mapping[str, int]) -> dict[str, float]:
    """Return by class its share of all pixels less its share of the other pixels, -1 to 1."""
    first, second = shares(pixels), shares(other_pixels)
    return {name: first.get(name, 0.0) - second.get(name, 0.0) for name in sorted({*first, *second})}
