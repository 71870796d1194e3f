"""tf_cnn_benchmarks: figures of documents 002 and B, ranks and totals."""

from pathlib import Path
from statistics import median

import pytest

from tests.support.mutated import invented, mutations, only, read_text
from toolkit.evidence.reader import read
from toolkit.evidence.tools.tf_cnn_benchmarks import STEPS_KEPT, TfCnnBenchmarks

LOGS = Path(__file__).parents[1] / "logs" / "tf-cnn-benchmarks"
RULE = "-" * 64


def _one(path: Path) -> TfCnnBenchmarks:
    (found,) = (one for one in read(path) if isinstance(one, TfCnnBenchmarks))
    return found


def _header(variables: str = "horovod") -> str:
    # Labels and their columns are those of print_info in tensorflow/benchmarks, scripts/tf_cnn_benchmarks.
    return (
        "TensorFlow:  2.1\nModel:       resnet50\nDataset:     imagenet (synthetic)\nMode:        training\n"
        "SingleSess:  False\nBatch size:  128 global\n             64 per device\nNum batches: 100\nNum epochs:  0.01\n"
        f"Devices:     ['horovod/gpu:0']\nData format: NCHW\nOptimizer:   sgd\nVariables:   {variables}\n==========\n"
        "Generating training model\nInitializing graph\nRunning warm up\nDone warm up\nStep\tImg/sec\ttotal_loss\n"
    )


def _step(step: int, rate: float) -> str:
    return f"{step}\timages/sec: {rate:.1f} +/- 0.5 (jitter = 1.2)\t7.972\n"


def _total(rate: float) -> str:
    return f"{RULE}\ntotal images/sec: {rate:.2f}\n{RULE}\n"


def _run(ranks: tuple[float, ...]) -> str:
    """Return a run of ranks with these rates, each line with its rank, as mpirun --tag-output does."""
    parts = [
        *((rank, _header()) for rank in range(len(ranks))),
        *((rank, _step(100, rate)) for rank, rate in enumerate(ranks)),
        *((rank, _total(sum(ranks))) for rank in range(len(ranks))),
    ]
    return "".join(f"[1,{rank}]<stdout>:{line}\n" for rank, text in parts for line in text.splitlines())


def test_the_edited_log_of_document_002_is_read_to_the_figure_and_gives_itself_away() -> None:
    """The edited log of the NVIDIA AI Enterprise guide is read, and its total contradicts its ranks."""
    found = _one(LOGS / "n-8.3.log")
    assert found.complete
    assert not found.unread
    assert (found.ranks, found.steps_total, len(found.steps)) == (4, 44, 44)
    first, last = found.steps[0], found.steps[-1]
    assert (first.line, first.step, first.images_per_s, first.loss) == (9, 1, 2100.6, 7.738)
    assert (last.images_per_s, last.uncertainty_images_per_s, last.jitter_images_per_s, last.loss) == (
        1517.9,
        19.6,
        219.0,
        7.5,
    )
    tens = [one for one in found.steps if one.step == 10]
    assert [one.uncertainty_images_per_s for one in tens] == [61.9, 60.4, 59.2, 59.0]
    assert [one.images_per_s for one in found.totals] == [8400.46, 8400.99, 8400.84, 8400.58]
    assert found.total_images_per_s == pytest.approx(median([8400.46, 8400.99, 8400.84, 8400.58]))
    assert found.sum_images_per_s == pytest.approx(2100.2 + 1520.1 + 1517.6 + 1517.9)
    assert found.total_deviation == pytest.approx(0.2077, abs=1e-4)


def test_the_log_of_document_b_has_rates_and_no_total() -> None:
    """The blog's log, read before its end, has rates and no total."""
    found = _one(LOGS / "b-6.3.log")
    assert [(one.step, one.images_per_s, one.loss) for one in found.steps] == [
        (1, 147.6, 8.308),
        (1, 147.8, 8.378),
        (10, 159.1, 8.526),
    ]
    assert (found.complete, found.incomplete, found.ranks) == (False, "no `total images/sec`", 2)
    assert found.sum_images_per_s is None
    assert found.nccl is not None
    assert (found.nccl.nranks, set(found.nccl.transports)) == (2, {"NET/Socket"})


def test_an_honest_run_of_two_ranks_agrees_with_its_total() -> None:
    """An honest run agrees with its total."""
    found = only(TfCnnBenchmarks, _run((859.1, 860.3)))
    assert found.complete
    assert not found.unread
    assert (found.tensorflow, found.model, found.dataset) == ("2.1", "resnet50", "imagenet (synthetic)")
    assert (found.batch_size, found.global_batch_size, found.variable_update) == (64, 128, "horovod")
    assert [one.rank for one in found.steps] == ["1,0", "1,1"]
    assert found.total_deviation == pytest.approx(0, abs=1e-6)


def test_without_horovod_one_process_drives_all_devices() -> None:
    """Without Horovod, one process with several devices is one rank."""
    found = only(TfCnnBenchmarks, _header("replicated") + _step(1, 7000) + _step(10, 7090) + _total(7096.12))
    assert (found.ranks, found.total_images_per_s, found.variable_update) == (1, 7096.12, "replicated")
    assert found.total_deviation == pytest.approx(0.00086, abs=1e-5)


def test_repeats_in_one_file_are_runs_of_their_own() -> None:
    """Repeats in one file are runs of their own."""
    found = read_text(_run((859.1, 860.3)) * 5)
    assert [one.ranks for one in found if isinstance(one, TfCnnBenchmarks)] == [2] * 5


@pytest.mark.parametrize(
    "line",
    [
        "100\timages/sec: 21",
        "100\timages/sec: 2100.2 +/- 20.2 (jitter = 30.3)",
        "1 images/sec: 2100.6 +/- 0.0 (jitter = 0.0) 7.7381 images/sec: 2100.8 +/- 0.0 (jitter = 0.0) 7.742",
        "total images/sec: ",
        "total images/sec: 8400.",
        "total images/sec: 84",
    ],
)
def test_a_line_that_is_cut_or_mixed_is_no_figure(line: str) -> None:
    """A line that is cut or mixed is not a figure."""
    found = only(TfCnnBenchmarks, _header() + line + "\n")
    assert (found.steps, found.totals, found.complete) == ((), (), False)
    assert [one.text for one in found.unread] == [line.rstrip()]


def test_a_loss_that_is_no_number_is_reported_and_decimal_commas_are_read() -> None:
    """A loss that is not a number is read as such, and decimal commas are read."""
    text = _header() + "1\timages/sec: 859,1 +/- 0,5 (jitter = 1,2)\tnan\n"
    found = only(TfCnnBenchmarks, text)
    assert [(one.images_per_s, one.loss) for one in found.steps] == [(859.1, None)]


def test_a_total_of_one_rank_of_two_is_not_the_whole_run() -> None:
    """A run with the total of one rank of two is incomplete."""
    text = _run((859.1, 860.3))
    (found,) = read_text("".join(line for line in text.splitlines(True) if "[1,1]<stdout>:total" not in line))
    assert (found.complete, found.incomplete) == (False, "`total images/sec` of 1 of 2 ranks")


def test_long_runs_are_kept_in_bounded_memory_with_their_end() -> None:
    """Of long runs, bounded memory holds the first steps and the last."""
    text = _header() + "".join(_step(10 * number, 800) for number in range(1, STEPS_KEPT + 100)) + _total(800)
    found = only(TfCnnBenchmarks, text)
    assert (found.steps_total, len(found.steps)) == (STEPS_KEPT + 99, STEPS_KEPT + 1)
    assert found.steps[-1].step == 10 * (STEPS_KEPT + 99)
    assert found.total_deviation == 0


def test_damage_never_raises_and_never_invents_a_rate() -> None:
    """Damage does not raise, and adds no rate."""
    for text in ((LOGS / "n-8.3.log").read_text(), _run((859.1, 860.3))):
        for raw in mutations(text, 100):
            assert invented(raw, read_text(raw)) == []
