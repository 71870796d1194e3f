"""The pack in previews and updates of the real engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from policies.configuration import with_site_rules
from policies.rule import Undetermined
from tests.engine import previews
from tests.engine.kit import Cluster, Outcome, Stack, config_map, thing

pytestmark = pytest.mark.engine

POD = "kubernetes:core/v1:Pod"
QUOTA = "kubernetes:core/v1:ResourceQuota"


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_our_stacks_keep_the_policies(name: str, tmp_path: Path) -> None:
    """A plain preview with the policy pack has no mandatory finding about this project's own stacks."""
    done = previews.stack(name, tmp_path).preview("--policy-pack", str(previews.PACK))
    assert done.status == 0, done.text
    assert "hpc@v" in done.text
    assert "can't run policy" not in done.text
    assert "[mandatory]" not in done.text


def _pod(name: str, **limits: Any) -> dict[str, Any]:
    container = {
        "name": "c",
        "image": f"registry.example.com/tool@sha256:{'0' * 64}",
        "resources": {"limits": limits},
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
    }
    fields = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container]},
    }
    return thing(name, POD, fields)


@pytest.fixture
def late(empty_stack: Stack, tmp_path: Path) -> Stack:
    """Give a stack whose objects can hold values that are known only after the first one is made."""
    copied = empty_stack.copy(tmp_path)
    copied.use("late.py")
    return copied


def _run(stack: Stack, folder: Path, command: str, **configuration: Any) -> Outcome:
    file = folder / "configuration.json"
    wanted = {"all": "disabled", "rdma-exactly-one": "mandatory", Undetermined.VALUE: "advisory", **configuration}
    file.write_text(json.dumps(wanted))
    arguments = ("--policy-pack", str(previews.PACK), "--policy-pack-config", str(file))
    return stack.preview(*arguments) if command == "preview" else stack.up(*arguments)


def test_an_unknown_value_is_undetermined_and_hides_nothing(late: Stack, tmp_path: Path) -> None:
    """An unknown value is an undetermined finding, which can be made mandatory and hides no other finding."""
    first = config_map("first", "default", {})
    unknown = _pod("unknown", **{"rdma/a": "<late:2>", "rdma/b": 3})
    late.configure(first, unknown)
    refused = _run(late, tmp_path, "preview")
    assert refused.status != 0
    assert "limits[rdma/a] is unknown until the update" in refused.text
    assert "asks for rdma/b: 3" in refused.text
    late.configure(first, _pod("unknown", **{"rdma/a": "<late:2>"}))
    assert _run(late, tmp_path, "preview").status == 0
    sure = _run(late, tmp_path, "preview", **{Undetermined.VALUE: "mandatory"})
    assert sure.status != 0
    assert "Rules that need it: rdma-exactly-one" in sure.text


def test_an_update_verifies_what_a_preview_could_not(late: Stack, api: Cluster, namespace: str, tmp_path: Path) -> None:
    """The update verifies a value that the preview could not, and refuses the object before it exists."""
    pod = _pod("late", **{"rdma/a": "<late:2>"})
    pod["fields"]["metadata"]["namespace"] = namespace
    late.configure(config_map("first", namespace, {}), pod)
    refused = _run(late, tmp_path, "up")
    assert refused.status != 0
    assert "asks for rdma/a: 2" in refused.text
    assert api.get(f"/api/v1/namespaces/{namespace}/pods/late") is None


def test_a_field_that_leaves_the_settings_is_judged_no_more(
    stack: Stack, api: Cluster, namespace: str, tmp_path: Path
) -> None:
    """A field that a policy refuses, of an object that was imported, ends to be refused when it is declared no more."""
    path = f"/api/v1/namespaces/{namespace}/resourcequotas"
    spec: dict[str, Any] = {"hard": {"limits.nvidia.com/gpu": "8", "requests.nvidia.com/gpu": "8"}}
    api.request("POST", path, {"metadata": {"name": "team"}, "spec": spec}, manager="kubectl-create")
    fields = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team", "namespace": namespace}}
    imported = {"options": {"import_": f"{namespace}/team"}}
    wanted = {"quota-counts": "mandatory"}
    stack.configure(thing("team", QUOTA, fields | {"spec": spec}, **imported))
    assert stack.up().status == 0
    refused = _run(stack, tmp_path, "preview", **wanted)
    assert refused.status != 0
    assert "limits.nvidia.com/gpu counts nothing" in refused.text
    stack.configure(thing("team", QUOTA, fields | {"spec": {"hard": {"requests.nvidia.com/gpu": "8"}}}))
    for command in ("preview", "up"):
        done = _run(stack, tmp_path, command, **wanted)
        assert done.status == 0, done.text
    assert api.get(f"{path}/team")["spec"] == {"hard": {"requests.nvidia.com/gpu": "8"}}


def test_rules_of_ones_own(stack: Stack, tmp_path: Path) -> None:
    """A rule of the project's own folder, named by the configuration alone, refuses an object in a preview."""
    stack.configure(config_map("settings", "default", {}))
    own = with_site_rules({"team-label": {"label": "owner"}}, ["tests/policies/own_rules"])
    refused = _run(stack, tmp_path, "preview", **own)
    assert refused.status != 0
    assert "team-label" in refused.text
    assert "has no label owner" in refused.text
