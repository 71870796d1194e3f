"""Settings over settings: what merges, by which key, and what takes the place of what was there."""

from typing import Any

import pytest
from pydantic import BaseModel, Field

from components.base.model import Model, merged_by, merging_keys
from stacks.loading.field_names import models_of
from stacks.loading.merging import left_out, merged
from stacks.settings.origins import parts
from stacks.settings.platform import Settings

MODELS = (Settings,)
REPLACED = {
    *("Settings.ports", "PoolSettings.ports", "PoolSettings.taints", "Stage.workloads", "Routing.receivers"),
    "NodeHealth.signs",
}
"""Lists of models that take the base's place: ports are in the order of rails, and the others have no key."""


def over(base: dict[str, Any], own: dict[str, Any]) -> Any:
    """Return `own` over `base` as data."""
    return merged(parts(base, "base", ()), parts(own, "own", ()), MODELS).plain


@pytest.mark.parametrize(
    ("base", "own", "expected"),
    [
        pytest.param({"protect": True}, {"protect": False}, {"protect": False}, id="value"),
        pytest.param({"storage": {"host_path": "/a"}}, {"storage": None}, {"storage": None}, id="null is a value"),
        pytest.param(
            {"storage": None}, {"storage": {"host_path": "/a"}}, {"storage": {"host_path": "/a"}}, id="of null"
        ),
        pytest.param(
            {"cluster": {"kubeconfig": "a", "context": "b"}},
            {"cluster": {"context": "c", "identifier": "d"}},
            {"cluster": {"kubeconfig": "a", "context": "c", "identifier": "d"}},
            id="maps",
        ),
        pytest.param(
            {"fabric": {"kind": "infiniband", "plugin": {"kind": "daemon-set", "image": "a:1"}, "sharp": True}},
            {"fabric": {"kind": "ethernet"}},
            {"fabric": {"kind": "ethernet"}},
            id="another form",
        ),
        pytest.param(
            {"fabric": {"kind": "infiniband", "plugin": {"kind": "daemon-set", "image": "a:1"}}},
            {"fabric": {"plugin": {"kind": "network-operator", "host_ofed": True}}},
            {"fabric": {"kind": "infiniband", "plugin": {"kind": "network-operator", "host_ofed": True}}},
            id="another form inside",
        ),
        pytest.param(
            {"fabric": {"plugin": {"image": "a:1"}}},
            {"fabric": {"kind": "roce"}},
            {"fabric": {"kind": "roce", "plugin": {"image": "a:1"}}},
            id="a form for what has none yet",
        ),
        pytest.param(
            {"gpu": {"enablement": "gpu-operator", "mig": "single"}},
            {"gpu": {"enablement": "gpu-operator", "gdrcopy": True}},
            {"gpu": {"enablement": "gpu-operator", "mig": "single", "gdrcopy": True}},
            id="the same form",
        ),
        pytest.param(
            {"tenants": [{"namespace": "a", "gpu_quota": 1}, {"namespace": "b", "gpu_quota": 2}]},
            {"tenants": [{"namespace": "c"}, {"namespace": "b", "gpu_quota": 3}]},
            {
                "tenants": [
                    {"namespace": "a", "gpu_quota": 1},
                    {"namespace": "b", "gpu_quota": 3},
                    {"namespace": "c"},
                ]
            },
            id="by key, in the order of the base",
        ),
        pytest.param(
            {"tenants": [{"namespace": "a", "uid_range": {"start": 1}}]},
            {"tenants": [{"namespace": "a", "uid_range": {"size": 2}}]},
            {"tenants": [{"namespace": "a", "uid_range": {"start": 1, "size": 2}}]},
            id="inside of an entry",
        ),
        pytest.param(
            {"builds": [{"tenant": "a", "name": "x", "tag": "1"}, {"tenant": "b", "name": "x", "tag": "1"}]},
            {"builds": [{"tenant": "b", "name": "x", "tag": "2"}]},
            {"builds": [{"tenant": "a", "name": "x", "tag": "1"}, {"tenant": "b", "name": "x", "tag": "2"}]},
            id="by two fields",
        ),
        pytest.param(
            {"storage": {"clusters": [{"id": "1", "gui_host": "a"}]}},
            {"storage": {"clusters": [{"id": "1", "gui_host": "b"}, {"id": 1, "gui_host": "c"}]}},
            {"storage": {"clusters": [{"id": "1", "gui_host": "b"}, {"id": 1, "gui_host": "c"}]}},
            id="a number is not text",
        ),
        pytest.param(
            {"stages": [{"name": "s", "workloads": [{"name": "a"}, {"name": "b"}]}]},
            {"stages": [{"name": "s", "workloads": [{"name": "a", "run": 2}]}]},
            {"stages": [{"name": "s", "workloads": [{"name": "a", "run": 2}]}]},
            id="another list",
        ),
        pytest.param(
            {"pull_secret": {"registries": ["a"]}},
            {"pull_secret": {"registries": ["b"]}},
            {"pull_secret": {"registries": ["b"]}},
            id="a list of texts",
        ),
        pytest.param({"tenants": [{"namespace": "a"}]}, {"tenants": 5}, {"tenants": 5}, id="no list"),
        pytest.param({"colour": {"a": 1}}, {"colour": {"b": 2}}, {"colour": {"a": 1, "b": 2}}, id="of no field"),
    ],
)
def test_what_results(base: dict[str, Any], own: dict[str, Any], expected: object) -> None:
    """Maps and lists with a key merge, and everything else takes the place of what the base has."""
    assert over(base, own) == expected


def test_names_in_a_map_are_no_fields() -> None:
    """Entries of a map merge as what they are, also one with the name of a field of theirs."""

    class Entry(Model):
        """An entry."""

        items: tuple[dict[str, str], ...] = Field(default=(), json_schema_extra=merged_by("name"))
        name: str = ""

    class Whole(Model):
        """A map of entries."""

        entries: dict[str, Entry]

    base = {"entries": {"items": {"items": [{"name": "a"}]}, "b": {"name": "b"}}}
    own = {"entries": {"items": {"items": [{"name": "c"}]}, "d": {"name": "d"}}}
    expected = {"items": {"items": [{"name": "a"}, {"name": "c"}]}, "b": {"name": "b"}, "d": {"name": "d"}}
    assert merged(parts(base, "base", ()), parts(own, "own", ()), (Whole,)).plain == {"entries": expected}
    less = left_out(parts(base, "base", ()), "entries.items.items", (Whole,))
    assert less
    assert less.plain == {"entries": {"items": {}, "b": {"name": "b"}}}


@pytest.mark.parametrize(
    ("base", "own", "names"),
    [
        (["a", "b"], ["b", "b"], ["a", "b", "b"]),
        (["a", "a"], ["a"], ["a", "a"]),
        (["dgx[01-02]"], ["dgx[01-04]"], ["dgx[01-02]", "dgx[01-04]"]),
        (["a", None], [None, "a"], ["a", None, None]),
    ],
)
def test_duplicates_are_kept_for_the_checks(base: list[str], own: list[str], names: list[str]) -> None:
    """An entry that its own file has twice, or that has no key, does not vanish in a merge."""
    entries = [[{} if name is None else {"name": name} for name in each] for each in (base, own)]
    found = over({"nodes": entries[0]}, {"nodes": entries[1]})
    assert [each.get("name") for each in found["nodes"]] == names


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "gpu",
            {
                "nodes": [{"name": "a.b.c"}, {"name": "a.b", "labels": {"x.y/z": 1}}],
                "builds": [{"tenant": "t", "name": "n"}],
            },
        ),
        ("gpu.driver.version", {"gpu": {"driver": {}}}),
        ("nodes.a.b", {"nodes": [{"name": "a.b.c"}]}),
        ("nodes.a.b.c", {"nodes": [{"name": "a.b", "labels": {"x.y/z": 1}}]}),
        ("nodes.a.b.labels.x.y/z", {"nodes": [{"name": "a.b.c"}, {"name": "a.b", "labels": {}}]}),
        ("builds.t.n", {"builds": []}),
    ],
)
def test_what_is_left_out(path: str, expected: dict[str, Any]) -> None:
    """A path names a field, or an entry by its key, which may have dots."""
    base = {
        "gpu": {"driver": {"version": "1"}},
        "nodes": [{"name": "a.b.c"}, {"name": "a.b", "labels": {"x.y/z": 1}}],
        "builds": [{"tenant": "t", "name": "n"}],
    }
    less = left_out(parts(base, "base", ()), path, MODELS)
    assert less
    found = less.plain
    assert {key: found[key] for key in expected} == expected
    assert found.keys() == base.keys() - ({path} & base.keys())


@pytest.mark.parametrize("path", ["", "gp", "gpu.", "gpu.mig", "gpu.mig.x", "nodes.0", "nodes.b", "stages.s"])
def test_nothing_is_left_out_by_mistake(path: str) -> None:
    """A path that leads nowhere is none: a list's position is not a name of an entry."""
    base = parts({"gpu": {"driver": None}, "nodes": [{"name": "a"}], "stages": "s"}, "base", ())
    assert left_out(base, path, MODELS) is None


def _lists(model: type[BaseModel], seen: set[type[BaseModel]]) -> set[str]:
    """Return the lists of models, as Model.field, that have no key."""
    seen.add(model)
    found = set()
    for name, info in model.model_fields.items():
        inner = [*models_of(info)]
        if inner and "tuple[" in str(info.annotation) and not merging_keys(info):
            found.add(f"{model.__name__}.{name}")
        for each in inner:
            found |= _lists(each, seen) if each not in seen else set()
    return found


def test_every_list_of_models_says_how_it_merges() -> None:
    """A list of settings has a key, or is known here as one that takes the base's place."""
    assert _lists(Settings, set()) == REPLACED, "give it `json_schema_extra=merged_by(...)`, or list it here"


def test_keys_are_required_fields_of_the_entries() -> None:
    """A key is a field that every entry has."""
    models: list[type[BaseModel]] = [Settings, *models_of(Settings.model_fields["storage"])]
    for model in models:
        for info in model.model_fields.values():
            for key in merging_keys(info):
                (entry,) = models_of(info)
                assert entry.model_fields[key].is_required(), f"{entry.__name__}.{key}"
