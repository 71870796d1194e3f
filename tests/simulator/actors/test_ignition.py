"""Rendering of machine configurations."""

import base64
from typing import Any

import pytest

from simulator.actors import ignition

LIMIT = "[Service]\nLimitMEMLOCK=infinity\n"


def config(name: str, *, units: Any = (), files: Any = (), version: str = "2.2.0", **spec: Any) -> dict[str, Any]:
    """Return a MachineConfig."""
    inside = {"ignition": {"version": version}, "systemd": {"units": list(units)}, "storage": {"files": list(files)}}
    return {"metadata": {"name": name}, "spec": {"config": inside, **spec}}


def drop_in(unit: str, name: str, contents: str) -> dict[str, Any]:
    """Return a unit with one drop-in."""
    return {"name": unit, "dropins": [{"name": name, "contents": contents}]}


def test_order_of_names_decides_and_drop_ins_are_collected() -> None:
    """Prevents a merge that depends on the order of a listing, or loses what another configuration adds."""
    first = config("10-a", units=[drop_in("crio.service", "a", "1")], files=[{"path": "/x", "mode": 1}])
    second = config(
        "20-b", units=[drop_in("crio.service", "b", "2")], files=[{"path": "/x", "mode": 2}], kernelArguments=["q"]
    )
    one, other = ignition.render("worker", [second, first]), ignition.render("worker", [first, second])
    assert one == other
    merged = one["spec"]["config"]
    assert [each["name"] for each in merged["systemd"]["units"][0]["dropins"]] == ["a", "b"]
    assert merged["storage"]["files"] == [{"path": "/x", "mode": 2}]
    assert one["spec"]["kernelArguments"] == ["q"]


def test_name_changes_with_the_content_only() -> None:
    """Prevents rollouts without a change, and changes without a rollout."""
    plain = ignition.render("worker", [config("a")])
    name = plain["metadata"]["name"]
    assert name == ignition.render("worker", [config("b")])["metadata"]["name"]
    changed = ignition.render("worker", [config("a", kernelArguments=["x"])])
    assert name != changed["metadata"]["name"]
    assert name.startswith("rendered-worker-")
    assert len(name) == len("rendered-worker-") + 32


@pytest.mark.parametrize(
    ("unit", "contents", "lifted"),
    [
        ("crio.service", LIMIT, True),
        ("crio.service", "[Service]\nLimitMEMLOCK=65536\n", False),
        ("crio.service", "[Service]\n# LimitMEMLOCK=infinity\n", False),
        ("cri-o.service", LIMIT, False),
    ],
)
def test_memlock_by_drop_in(unit: str, contents: str, lifted: bool) -> None:
    """Prevents a limit that counts as lifted by a unit OpenShift 4 does not have (E-19), a comment or a number."""
    rendered = ignition.render("worker", [config("a", units=[drop_in(unit, "m", contents)])])
    assert ignition.memlock_unlimited(rendered) is lifted


def test_memlock_by_the_runtimes_configuration() -> None:
    """Prevents the other way to lift the limit from being overlooked."""
    text = base64.b64encode(b'[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n').decode()
    source = f"data:text/plain;charset=utf-8;base64,{text}"
    file = {"path": "/etc/crio/crio.conf.d/10-memlock", "contents": {"source": source}}
    assert ignition.memlock_unlimited(ignition.render("worker", [config("a", files=[file])]))
    elsewhere = file | {"path": "/etc/other.conf"}
    assert not ignition.memlock_unlimited(ignition.render("worker", [config("a", files=[elsewhere])]))


def test_selectors() -> None:
    """Prevents configurations and nodes from joining a pool that does not select them."""
    assert ignition.selected({"matchLabels": {"a": "b"}}, {"a": "b", "c": "d"})
    assert not ignition.selected({"matchLabels": {"a": "b"}}, {"a": "x"})
    among = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x", "y"]}]}
    assert ignition.selected(among, {"a": "y"})
    assert not ignition.selected(among, {"a": "z"})
