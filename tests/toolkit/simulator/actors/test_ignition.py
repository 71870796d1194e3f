"""Rendering of machine configurations."""

import base64
from typing import Any

import pytest

from toolkit.simulator.actors import ignition

LIMIT = "[Service]\nLimitMEMLOCK=infinity\n"


def config(name: str, *, units: Any = (), files: Any = (), version: str = "2.2.0", **spec: Any) -> dict[str, Any]:
    """Return a MachineConfig."""
    inside = {"ignition": {"version": version}, "systemd": {"units": list(units)}, "storage": {"files": list(files)}}
    return {"metadata": {"name": name}, "spec": {"config": inside, **spec}}


def drop_in(unit: str, name: str, contents: str) -> dict[str, Any]:
    """Return a unit with one drop-in."""
    return {"name": unit, "dropins": [{"name": name, "contents": contents}]}


def test_order_of_names_decides_and_drop_ins_are_collected() -> None:
    """Configurations are merged in the order of their names, and none is lost."""
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
    """The rendered configuration changes exactly when its contents do."""
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
    """Only LimitMEMLOCK=infinity of a unit that OpenShift 4 has lifts the limit."""
    rendered = ignition.render("worker", [config("a", units=[drop_in(unit, "m", contents)])])
    assert ignition.memlock_unlimited(rendered) is lifted


def test_memlock_by_the_runtimes_configuration() -> None:
    """The limit can be lifted by CRI-O's default_ulimits too."""
    text = base64.b64encode(b'[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n').decode()
    source = f"data:text/plain;charset=utf-8;base64,{text}"
    file = {"path": "/etc/crio/crio.conf.d/10-memlock", "contents": {"source": source}}
    assert ignition.memlock_unlimited(ignition.render("worker", [config("a", files=[file])]))
    elsewhere = file | {"path": "/etc/other.conf"}
    assert not ignition.memlock_unlimited(ignition.render("worker", [config("a", files=[elsewhere])]))
