"""Logs of NVIDIA's examples."""

import pytest

from tests.support.mutated import invented, mutations, only, read_text
from toolkit.evidence.tools.deeplearningexamples import DeepLearningExamples

# Forms of dllogger/logger.py (default_metric_format) and of the examples that format their steps themselves.
DLL = """DLL 2020-09-15 14:28:53.498443 - PARAMETER arch : resnet50  image_shape : [4, 224, 224]  epochs : 1
DLL 2020-09-15 14:29:13.473765 - Epoch: 0 Iteration: 1  train.loss : 7.09304  train.total_ips : 267.44 img/s
DLL 2020-09-15 14:29:14.427490 - Epoch: 0 Iteration: 2  train.loss : 6.93504  train.total_ips : 4294.91 img/s
DLL 2021-03-23 11:48:38.824370 - (0, 120) total_ips : 2879.142978189404
DLL 2020-12-07 20:04:34.092791 - Iteration: 16  throughput_train : 145.221 seq/s nsp_loss : 0.67  total_loss : 11.1256
DLL 2022-05-12 14:09:13.825000 - () throughput_train : 37.348  latency_train_mean : 53.551
"""
# Form of RN50v1.5/dllogger/logger.py, the one in the container of 2019 that Robotic Drive runs.
_HEAD = ":::NVLOGv0.2.3 resnet 1570012345.123456789 (benchmark_hooks.py:64)"
NVLOG = f"""{_HEAD} iteration: 20
{_HEAD} total_ips: 2893.5
{_HEAD} iteration: 30
{_HEAD} total_ips: 2901.25
{_HEAD} Average total_ips: 2897.375
"""


def test_steps_and_the_result_of_dllogger_are_read() -> None:
    """The rate of the run, and epoch and iteration of a step, are read."""
    found = only(DeepLearningExamples, DLL)
    assert [(one.line, one.step, one.items_per_s, one.loss) for one in found.rows] == [
        (2, (0, 1), 267.44, 7.09304),
        (3, (0, 2), 4294.91, 6.93504),
        (4, (0, 120), 2879.142978189404, None),
        (5, (16,), 145.221, 11.1256),
    ]
    assert (found.form, found.complete, found.throughput_items_per_s, found.throughput_line) == ("dll", True, 37.348, 6)
    assert found.final == {"throughput_train": 37.348, "latency_train_mean": 53.551}
    assert not found.unread


def test_the_logger_of_2019_prints_each_figure_on_its_line() -> None:
    """The logger of 2019, with each figure on its own line, is read."""
    found = only(DeepLearningExamples, NVLOG)
    assert (found.form, found.tool_version, found.model) == ("nvlog", "0.2.3", "resnet")
    assert [(one.line, one.step, one.items_per_s) for one in found.rows] == [(2, (20,), 2893.5), (4, (30,), 2901.25)]
    assert (found.complete, found.throughput_items_per_s, found.throughput_line) == (True, 2897.375, 5)
    assert not found.unread


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (
            "DLL 2020-07-06 12:00:00.500000 - PARAMETER batch_size : 16\n"
            "DLL 2020-07-06 12:22:08.500000 - () throughput_train : 37.3",
            1328.0,
        ),
        (NVLOG.replace("Average", "Other"), None),
        ("DLL 2020-13-06 12:00:00 - () throughput_train : 37.3", None),
    ],
)
def test_stamps_tell_how_long_a_whole_run_took(text: str, seconds: float | None) -> None:
    """The run time is known only of a complete log with time stamps."""
    assert only(DeepLearningExamples, text).elapsed_s == seconds


def test_ranks_of_the_logger_of_2019_do_not_mix() -> None:
    """A rank's rate belongs to its own iteration."""
    ranks = [f"[1,{rank}]<stdout>:{line}" for line in NVLOG.splitlines()[:2] for rank in range(2)]
    found = only(DeepLearningExamples, "\n".join(ranks))
    assert sorted((one.rank, one.step, one.items_per_s) for one in found.rows) == [
        ("1,0", (20,), 2893.5),
        ("1,1", (20,), 2893.5),
    ]


def test_the_json_file_of_dllogger_is_read() -> None:
    """The JSON file of DLLogger is read."""
    found = only(
        DeepLearningExamples,
        'DLLL {"timestamp": "1600180154.4", "type": "METADATA", "metric": "total_ips", "metadata": {"unit": "img/s"}}\n'
        'DLLL {"timestamp": "1600180154.4", "type": "LOG", "step": [0, 20], "data": {"total_ips": 2893.5}}\n'
        'DLLL {"timestamp": "1600180154.4", "type": "LOG", "step": [], "data": {"train_throughput": 2890.0}}\n',
    )
    assert [(one.step, one.items_per_s) for one in found.rows] == [((0, 20), 2893.5)]
    assert (found.complete, found.throughput_items_per_s) == (True, 2890.0)


@pytest.mark.parametrize(
    "line",
    [
        "DLL 2021-03-23 11:48:38.824370 - (0, 120) total_ips :",
        "DLL 2021-03-23 11:48:38.824370 - (0, 120) total_ips : 28DLL 2021",
        "DLL 2021-03-23 11:48:38.8243",
        'DLLL {"type": "LOG", "step": [0, 20], "da',
        f"{_HEAD} total_ips: 28:::NVLOG",
    ],
)
def test_a_line_that_is_cut_or_mixed_is_no_figure(line: str) -> None:
    """A line that is cut or mixed is not a figure."""
    found = only(DeepLearningExamples, DLL + line + "\n")
    assert len(found.rows) == 4
    assert [one.text for one in found.unread] == [line]


def test_a_run_without_its_result_is_incomplete() -> None:
    """A run without its result is incomplete."""
    found = only(DeepLearningExamples, DLL[: DLL.index("DLL 2022")])
    assert (found.complete, found.incomplete) == (False, "no throughput of the whole run")


def test_damage_never_raises_and_never_invents_a_rate() -> None:
    """Damage does not raise, and adds no rate."""
    for text in (DLL, NVLOG):
        for raw in mutations(text, 100):
            assert invented(raw, read_text(raw)) == []
