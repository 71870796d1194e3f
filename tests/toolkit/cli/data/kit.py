"""A stack `lab` whose tenant has a data set of a small catalogue."""

from collections.abc import Callable

from tests.toolkit.datasets.kit import image

VOLUMES = [{"name": "sets", "kind": "claim", "claim": "sets", "storage_class": "nfs", "capacity": "1Gi"}]
FRAMES = {image(number, number): {"bicycle": number % 2, "car": 5, "sky": 100 - number % 2} for number in range(1, 9)}
"""Pixels by image; every second one has a bicycle."""
HALVES = {"parts": {"train": 0.5, "validation": 0.5}}
Change = Callable[..., None]
"""Changes the data set's settings."""
