"""Places for labels that may not cover each other."""

from collections.abc import Sequence


def spread(wanted: Sequence[float], gap: float) -> tuple[float, ...]:
    """Return places that are at least `gap` apart, in the order of those wanted and as near to them as can be."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    groups: list[tuple[float, int]] = []  # of labels that touch: the lowest's place, and how many they are
    for index in order:
        low, count = wanted[index], 1
        while groups and low < groups[-1][0] + groups[-1][1] * gap:
            before, more = groups.pop()
            # Both groups' labels want to be where their own places put them: the mean, of what each adds.
            low = (before * more + (low - more * gap) * count) / (more + count)
            count += more
        groups.append((low, count))
    places = [low + step * gap for low, count in groups for step in range(count)]
    found = dict(zip(order, places, strict=True))
    return tuple(found[index] for index in range(len(wanted)))
