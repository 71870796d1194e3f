"""How GPUs are joined by the NVLinks that a node prints, and which of them have lost some."""

from collections.abc import Callable

import pytest

from core.hardware.profiles import PROFILES
from toolkit.cli.hardware.nvlinks import Matrix, examine, shape

MESH = [[*row] for row in PROFILES["dgx1-v100-16gb"].nvlink.links]


def _matrix(gpus: int, links: Callable[[int, int], int]) -> list[list[int]]:
    return [
        [0 if one == other else links(min(one, other), max(one, other)) for other in range(gpus)] for one in range(gpus)
    ]


def _pairs(one: int, other: int) -> int:
    return 4 if one // 2 == other // 2 else 0


SWITCHED = _matrix(8, lambda *_: 18)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (SWITCHED, "switched"),
        (_matrix(16, lambda *_: 6), "switched"),
        (_matrix(4, lambda *_: 18), "switched"),
        (_matrix(4, lambda *_: 6), "mesh"),
        (_matrix(4, lambda *_: 4), "mesh"),
        (_matrix(2, lambda *_: 12), "bridged"),
        (_matrix(8, _pairs), "bridged"),
        (_matrix(8, lambda one, other: 6 if one // 4 == other // 4 else 0), "bridged"),
        (MESH, "hybrid cube mesh"),
        (_matrix(4, lambda *_: 0), "none"),
        ([[0]], "none"),
    ],
)
def test_the_shape_follows_from_the_links(links: Matrix, expected: str) -> None:
    """A GPU has 18 links at most: more in all to the others go over switches; pairs and fours are bridged."""
    assert shape(links) == expected
    seen = examine(links, ())
    assert (seen.links, seen.fault, seen.unlike) == (tuple(map(tuple, links)), None, ())


def _without(links: Matrix, *lost: tuple[int, int], left: int = 0) -> list[list[int]]:
    rows = [[*row] for row in links]
    for one, other in lost:
        rows[one][other] = rows[other][one] = left
    return rows


@pytest.mark.parametrize("others", [(), (SWITCHED,)])
@pytest.mark.parametrize(("left", "has"), [(0, "no NVLink"), (17, "NV17 to 7 GPUs")])
def test_a_gpu_that_has_fewer_links_than_the_others_is_named(left: int, has: str, others: tuple[Matrix, ...]) -> None:
    """The machine has the links of the other GPUs, known or not, and the one that lost some is a fault of the node."""
    seen = examine(_without(SWITCHED, *((min(2, gpu), max(2, gpu)) for gpu in range(8) if gpu != 2), left=left), others)
    assert seen.links == tuple(map(tuple, SWITCHED))
    assert (seen.fault or "").startswith(f"GPU 2: {has}, ")
    assert "NV18 to" in (seen.fault or "")


def test_lost_links_of_a_mesh_are_those_of_the_known_machine() -> None:
    """Where GPUs are not alike, and a known machine has more links everywhere, the node has lost them."""
    one = examine(_without(MESH, (0, 3), left=1), (MESH,))
    assert (one.links, (one.fault or "").partition(": a fault")[0]) == (
        tuple(map(tuple, MESH)),
        "GPU 0 to GPU 3: NV1, not NV2",
    )
    several = examine(_without(MESH, (0, 3), (3, 7), left=0), (MESH,))
    assert (several.fault or "").startswith("GPU 3: NV2 to 1 GPU and NV1 to 1 GPU, not NV2 to 2 GPUs and NV1 to 2 GPUs")


def test_a_node_without_any_link_of_its_kind_is_no_machine_without_nvlink() -> None:
    """Where such GPUs have links in every machine, the links are open; other GPUs, or a single one, may have none."""
    bare = _matrix(8, lambda *_: 0)
    seen = examine(bare, (), 18)
    assert (seen.links, (seen.fault or "").partition(": ")[0]) == (
        None,
        "no GPU has an NVLink, and each has 18 in every machine",
    )
    assert examine(bare, (SWITCHED,)).fault is None
    assert examine([[0]], (SWITCHED,), 18).fault is None


def test_a_lost_bridge() -> None:
    """Of a minority without a bridge the links are open; of as many with as without it is a choice or a fault."""
    minority = examine(_matrix(8, lambda one, other: _pairs(one, other) if other < 6 else 0), ())
    assert minority.links is None
    assert (minority.fault or "").startswith("GPU 6, 7: no NVLink, and the others have NV4 to 1 GPU: ")
    half = examine(_matrix(4, lambda one, other: _pairs(one, other) if other < 2 else 0), ())
    assert (half.fault, half.unlike, shape(half.links or ())) == (None, (2, 3), "bridged")


def test_links_that_are_all_alike_are_another_machine() -> None:
    """GPUs with fewer links than those of known machines, all alike, are no fault: a maker may join fewer."""
    assert examine(_matrix(8, lambda *_: 12), (SWITCHED,)).fault is None


def test_many_gpus_take_no_time() -> None:
    """A damaged matrix of many GPUs is examined, too."""
    assert examine(_matrix(64, lambda one, other: (one * other) % 3), ()).fault is None
