"""The arithmetic of stacks/scripts/collectives.py, which is the same with and without GPUs."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "stacks/scripts/collectives.py"
GIB = 1 << 30


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load the script without PyTorch, which only its calls need."""
    for name in ("torch", "torch.distributed"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["torch"].distributed = sys.modules["torch.distributed"]  # type: ignore[attr-defined]
    spec = importlib.util.spec_from_file_location("collectives_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("ranks", range(1, 17))
def test_every_rank_has_an_equal_part(script: ModuleType, ranks: int) -> None:
    """A message of any size has whole words for each rank, and large parts begin at 16 bytes."""
    sizes = script.sizes(8, GIB, 2, ranks)
    assert sizes == sorted(set(sizes))
    assert all(size % (4 * ranks) == 0 for size in sizes)
    assert sizes[0] >= 4 * ranks
    assert all(size // ranks % 16 == 0 for size in sizes if size // ranks > 16)
    assert 0.99 * GIB < sizes[-1] <= GIB


def test_sizes_without_parts_are_those_requested(script: ModuleType) -> None:
    """All-reduce takes every size, whatever the number of ranks; sizes below the parts of 16 ranks are one size."""
    assert script.sizes(8, 64, 2, 1) == [8, 16, 32, 64]
    assert script.sizes(8, 128, 2, 16) == [64, 128]
    assert script.sizes(8, 96, 2, 3) == [12, 24, 48]
