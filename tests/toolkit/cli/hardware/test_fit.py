"""`./hpc hardware fit`: which layouts fit."""

import json
from functools import partial

import pytest

from tests.support.commands import finished
from toolkit.cli.hardware import fit
from toolkit.cli.shared.errors import Problem

NODES = {"dgx01.lab": 8, "dgx02.lab": 8, "dgx03.lab": 8}
_run = partial(finished, fit.command)


def test_a_job_that_fits_in_pieces_only() -> None:
    """Two GPUs that are free on two nodes fit a layout of two pods with one GPU each."""
    status, output = _run("--gpus", "2", "--free", "dgx01=1,dgx02=1", "--json")
    (layout,) = json.loads(output)["layouts"]
    assert (status, layout["layout"], list(layout["nodes"].values())) == (0, "02x01x02", [1, 1])


def test_the_settings_say_what_is_free() -> None:
    """Without options the free GPUs are those of the stack's machines."""
    status, output = _run("--gpus", "16")
    assert status == 0
    assert "02x08x02" in output
    assert "16x01x02" in output


def test_what_fits_nowhere_has_a_reason() -> None:
    """A layout that fits nowhere has exit status 1 and a reason."""
    status, output = _run("--gpus", "17")
    assert (status, "17 GPUs wanted, 16 free" in output) == (1, True)
    status, output = _run("--gpus", "4", "--gpus-per-pod", "4", "--free", "dgx01=3,dgx02=2", "--json")
    assert (status, json.loads(output)["layouts"]) == (1, [])
    assert "room for 0" in json.loads(output)["reason"]


def test_a_job_stays_within_a_domain_of_the_fabric() -> None:
    """With a level of the fabric all pods are in one domain of it, and an unknown level is refused with those known."""
    free = ",".join(f"dgx{node:03}=8" for node in (19, 20, 21, 22, 23))
    pod = ("--stack", "superpod-a100", "--gpus-per-pod", "8", "--free", free)
    status, output = _run(*pod, "--gpus", "24", "--within", "leaf", "--json")
    (layout,) = json.loads(output)["layouts"]
    assert (status, sorted(node[:6] for node in layout["nodes"])) == (0, ["dgx021", "dgx022", "dgx023"])
    status, output = _run(*pod, "--gpus", "32", "--within", "leaf")
    assert (status, "in one leaf: 32 GPUs wanted, 24 free" in output) == (1, True)
    with pytest.raises(Problem, match="--within rack: no level"):
        _run(*pod, "--gpus", "8", "--within", "rack")


def test_free_gpus_of_nodes() -> None:
    """Nodes are found by short or whole names, and those that are not named have no free GPUs."""
    assert fit.chosen("dgx02=2, dgx03.lab=0", NODES) == {"dgx02.lab": 2, "dgx03.lab": 0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dgx09=1", "GPU nodes: dgx01.lab, dgx02.lab, dgx03.lab"),
        ("dgx01", "NODE=N"),
        ("dgx01=-1", "NODE=N"),
        ("dgx01=9", "has 8 GPUs for jobs, not 9"),
        ("dgx01=1,dgx01.lab=1", "given twice"),
        ("", "NODE=N"),
    ],
)
def test_wrong_free_gpus_are_named(text: str, words: str) -> None:
    """A node that the stack does not have, or a wrong number, is refused by name."""
    with pytest.raises(Problem, match=words):
        fit.chosen(text, NODES)


def test_names_that_two_nodes_begin_with() -> None:
    """A short name that two nodes have is refused with both."""
    with pytest.raises(Problem, match="GPU nodes"):
        fit.chosen("dgx01=1", {"dgx01.a": 8, "dgx01.b": 8})


@pytest.mark.parametrize(
    ("free", "gpus", "whole", "split", "sentence"),
    [
        ("dgx01=1,dgx02=1", 2, 0, 2, "of 2 free GPUs, jobs of one pod use 0, and jobs over several nodes 2: 100% more"),
        (
            "dgx01=7,dgx02=5",
            4,
            8,
            12,
            "of 12 free GPUs, jobs of one pod use 8, and jobs over several nodes 12: 33% more",
        ),
        ("dgx01=8,dgx02=8", 8, 16, 16, "0% more"),
    ],
)
def test_what_left_over_gpus_are_worth(free: str, gpus: int, whole: int, split: int, sentence: str) -> None:
    """GPUs that are left over on several nodes are of use to jobs over these nodes alone; how many is said."""
    _, text = _run("--gpus", str(gpus), "--free", free)
    assert sentence in " ".join(text.split())
    _, data = _run("--gpus", str(gpus), "--free", free, "--json")
    gained = json.loads(data)["gain"]
    assert (gained["whole"], gained["split"]) == (whole, split)
