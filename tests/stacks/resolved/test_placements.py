"""Layouts, names and places of workloads."""

import copy
from typing import Any

import pytest

from components.jobs.layout import Layout
from stacks.loading.settings import SettingsError, load, parse
from stacks.resolved import jobs
from stacks.resolved.placements import Placement, placements
from stacks.settings.workloads import MpiWorkload
from tests.support.recorded import ROOT
from tests.support.stack_settings import data as settings_of
from tests.support.stack_settings import expect_refusal, message

AGGREGATED: dict[str, Any] = {
    "kind": "mpi",
    "tenant": "adas",
    "name": "cut-off",
    "program": "resnet50",
    "image": "example/tf:1.0",
}


def lab(workloads: list[dict[str, Any]], free: dict[str, int] | None = None) -> dict[str, Any]:
    """Return the data of dev with these workloads, and so many free GPUs on the nodes whose names begin so."""
    data = settings_of("dev")
    data["stages"] = [{"name": "all", "workloads": [{"wait": "finished", **each} for each in copy.deepcopy(workloads)]}]
    for node in data["nodes"]:
        for start, gpus in (free or {}).items():
            if node["name"].startswith(start):
                node["free_gpus"] = gpus
    return data


def placed(data: dict[str, Any]) -> tuple[Placement, ...]:
    """Return the placements of such data."""
    return placements(parse(data, "test"))


@pytest.mark.parametrize(
    ("free", "wanted", "expected"),
    [
        ({}, {"gpus": 16}, "02x08x02"),
        ({}, {"gpus": 8}, "01x08x01"),
        ({}, {"gpus": 8, "gpus_per_pod": 1}, "08x01x01"),
        ({"dgx01": 1, "dgx02": 1}, {"gpus": 2}, "02x01x02"),
        ({"dgx01": 3, "dgx02": 1}, {"gpus": 4}, "04x01x02"),
        ({"dgx01": 6, "dgx02": 4}, {"gpus": 8}, "02x04x02"),
    ],
)
def test_the_best_layout_that_fits_is_taken(free: dict[str, int], wanted: dict[str, int], expected: str) -> None:
    """The layout with the fewest pods that fits on the free GPUs is used."""
    (job,) = jobs.every(parse(lab([AGGREGATED | wanted], free), "test"))
    assert str(job.layout) == expected
    assert job.name == f"cut-off-{expected}"


def test_what_does_not_fit_is_refused_with_the_plans_reason() -> None:
    """Too many GPUs are refused with what would fit."""
    few = lab([AGGREGATED | {"gpus": 4}], {"dgx01": 1, "dgx02": 1})
    expect_refusal(few, "job cut-off: 4 GPUs … 2 free; wait, or … fewer")
    spread = lab([AGGREGATED | {"gpus": 4, "gpus_per_pod": 4}], {"dgx01": 3, "dgx02": 3})
    expect_refusal(spread, "job cut-off: … layout 02x02x02")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "layout and gpus of cut-off: neither …; give one"),
        ({"gpus": 2, "layout": {"pods": 1, "gpus": 2}}, "layout and gpus of cut-off: both …; give one"),
        ({"layout": {"pods": 1, "gpus": 2}, "gpus_per_pod": 1}, "gpus_per_pod 1 of cut-off: layout"),
    ],
)
def test_a_layout_is_given_once(change: dict[str, Any], expected: str) -> None:
    """A workload has a layout or a number of GPUs, not both."""
    expect_refusal(lab([AGGREGATED | change]), expected)


def test_jobs_of_a_wave_have_room_beside_each_other() -> None:
    """Placements of one wave share no GPU."""
    found = placed(lab([AGGREGATED | {"gpus": 4, "name": name} for name in ("one", "two", "three", "four", "five")]))
    assert [each.wave for each in found] == [1, 1, 1, 1, 2]
    on = [each.on for each in found[:4]]
    assert sorted(node[:5] for ((node, _),) in on) == ["dgx01", "dgx01", "dgx02", "dgx02"]
    assert [each.gpus for each in found] == [4] * 5


def test_jobs_that_are_bound_to_one_node_share_no_wave_that_only_two_nodes_could_hold() -> None:
    """Jobs bound to one node run in one wave only if that node holds them."""
    bound = AGGREGATED | {"gpus": 8, "node": "dgx02.ocp4.scale.ibm.com"}
    found = placed(lab([bound | {"name": "one"}, bound | {"name": "two"}, AGGREGATED | {"gpus": 8, "name": "free"}]))
    assert [(each.job, each.wave) for each in found] == [
        ("adas/one-01x08x01", 1),
        ("adas/two-01x08x01", 2),
        ("adas/free-01x08x01", 2),
    ]
    assert {each.on[0][0][:5] for each in found[:2]} == {"dgx02"}


def test_jobs_of_one_tenant_that_exceed_its_quota_together_share_no_wave() -> None:
    """Jobs of a wave stay within their tenant's quota together."""
    data = lab([AGGREGATED | {"gpus": 8, "name": name} for name in ("one", "two")])
    assert [each.wave for each in placed(data)] == [1, 1]
    data["tenants"][0]["gpu_quota"] = 12
    assert [each.wave for each in placed(data)] == [1, 2]


def test_nobody_waits_for_gpus_that_are_not_given_back() -> None:
    """A job that needs the GPUs of one that is only started is refused."""
    two: list[dict[str, Any]] = [AGGREGATED | {"gpus": 16, "name": name, "wait": "started"} for name in ("one", "two")]
    expected = "job adas/two-02x08x02 of stage all needs GPUs that adas/one-02x08x02 may hold"
    assert expected in message(lab(two))
    next_stage = lab(two[:1])
    next_stage["stages"].append({"name": "after", "workloads": two[1:]})
    assert "of stage after needs GPUs" in message(next_stage)
    small = [AGGREGATED | {"gpus": 8, "name": name, "wait": "started"} for name in ("one", "two")]
    assert [each.wave for each in placed(lab(small))] == [1, 1]


def test_a_wave_has_room_as_a_whole_beside_what_still_runs() -> None:
    """All jobs of a wave must have room together beside those that still run."""
    data = lab([AGGREGATED | {"gpus": 8, "name": "first", "wait": "started"}])
    later = [AGGREGATED | {"gpus": 8, "name": name, "wait": "finished"} for name in ("one", "two")]
    data["stages"].append({"name": "after", "workloads": later[:1]})
    assert [each.wave for each in placed(data)] == [1, 1]
    data["stages"][1]["workloads"] = later
    assert "job adas/two-01x08x01 of stage after needs GPUs that adas/first-01x08x01 may hold" in message(data)


def test_all_stacks_know_where_their_jobs_fit() -> None:
    """Every job of every stack has a placement."""
    for stack in ("dev", "prod", "superpod-a100"):
        found = placements(load(stack, ROOT))
        assert all(each.on for each in found), stack
        assert all(each.layout is None or sum(n for _, n in each.on) == each.layout.pods for each in found)


def test_the_bandwidth_test_has_nodes_and_no_gpus() -> None:
    """The bandwidth test is placed on the nodes of its settings."""
    first = placements(load("dev", ROOT))[0]
    assert (first.job, first.layout, first.gpus) == ("adas/mofed-test-job", None, 0)
    assert [node[:5] for node, _ in first.on] == ["dgx01", "dgx02"]


def test_a_pod_of_machines_can_be_named() -> None:
    """Layouts and names reach the 140 machines of a POD."""
    assert str(Layout(pods=140, gpus=8, nodes=140)) == "140x08x140"


def test_errors_are_settings_errors() -> None:
    """A layout that cannot be planned is an error of the settings."""
    with pytest.raises(SettingsError):
        parse(lab([AGGREGATED | {"gpus": 99}]), "test")


@pytest.mark.parametrize(("text", "fields"), [("2x8", (2, 8, None)), ("02x08x02", (2, 8, 2))])
def test_a_layout_has_a_short_form(text: str, fields: tuple[int, ...]) -> None:
    """Settings take the form of `--layout` and of the jobs' names, too."""
    settings = parse(lab([AGGREGATED | {"layout": text}]), "test")
    (workload,) = settings.stages[0].workloads
    assert isinstance(workload, MpiWorkload)
    found = workload.layout
    assert found
    assert (found.pods, found.gpus, found.nodes) == fields


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 nodes", "workloads[0].layout: '2 nodes' is no layout; write pods x GPUs of each, e.g. 2x8, or {pods: 2"),
        ("0x8", "workloads[0].layout.pods: is not above 0 (value: 0); raise it"),
    ],
)
def test_a_text_that_is_no_layout_is_refused_with_both_forms(text: str, expected: str) -> None:
    """A wrong short form is refused with what to write, and its numbers by their field."""
    expect_refusal(lab([AGGREGATED | {"layout": text}]), expected)
