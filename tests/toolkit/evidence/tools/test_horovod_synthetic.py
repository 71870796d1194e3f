"""Horovod's synthetic benchmark."""

import pytest

from tests.support.mutated import invented, mutations, only, read_text
from toolkit.evidence.tools.horovod_synthetic import HorovodSynthetic

# Lines as examples/pytorch_synthetic_benchmark.py of horovod 0.18 prints them; the figures are made up.
LOG = (
    "Model: resnet50\nBatch size: 32\nNumber of GPUs: 8\nRunning warmup...\nRunning benchmark...\n"
    "Iter #0: 329.1 img/sec per GPU\nIter #1: 331.1 img/sec per GPU\n"
    "Img/sec per GPU: 330.1 +-2.3\nTotal img/sec on 8 GPU(s): 2640.8 +-18.4\n"
)


def test_a_run_is_read_to_the_figure() -> None:
    """The rate of the job, not that of one GPU, is read as its total."""
    found = only(HorovodSynthetic, "".join(f"[1,0]<stdout>:{line}\n" for line in LOG.splitlines()))
    assert found.complete
    assert not found.unread
    assert (found.model, found.batch_size, found.device, found.ranks) == ("resnet50", 32, "GPU", 8)
    assert [(one.line, one.iteration, one.images_per_s) for one in found.iterations] == [(6, 0, 329.1), (7, 1, 331.1)]
    assert (found.images_per_s_per_device, found.spread_per_device) == (330.1, 2.3)
    assert (found.total_images_per_s, found.total_spread, found.total_line) == (2640.8, 18.4, 9)
    assert found.total_deviation == pytest.approx(0, abs=1e-9)


def test_a_horovod_without_cuda_is_seen() -> None:
    """A run on CPUs is read as such."""
    found = only(HorovodSynthetic, LOG.replace("GPU", "CPU"))
    assert found.device == "CPU"


@pytest.mark.parametrize("end", ["40.8 +-18", ".4\n"])
def test_a_cut_run_is_incomplete_and_half_a_line_no_figure(end: str) -> None:
    """A cut run is incomplete, and half a line is not a figure."""
    cut = LOG[: LOG.index(end)]
    found = only(HorovodSynthetic, cut)
    assert (found.complete, found.total_images_per_s, found.ranks) == (False, None, 8)
    assert [one.text for one in found.unread] == [cut.splitlines()[-1]]


def test_runs_in_one_file_are_distinguished_and_an_edited_total_shows() -> None:
    """Runs in one file are readings of their own, and an edited total is found."""
    first, second = read_text(LOG + LOG.replace("2640.8", "5281.6"))
    assert isinstance(first, HorovodSynthetic)
    assert isinstance(second, HorovodSynthetic)
    assert first.total_deviation == pytest.approx(0, abs=1e-9)
    assert second.total_deviation == pytest.approx(0.5)


def test_damage_never_raises_and_never_invents_a_rate() -> None:
    """Damage does not raise, and adds no rate."""
    for raw in mutations(LOG, 200):
        assert invented(raw, read_text(raw)) == []
