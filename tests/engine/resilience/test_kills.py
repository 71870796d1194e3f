"""The engine is killed at random moments of updates that create, change, replace and delete."""

import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engine.kit import Cluster, thing
from tests.engine.resilience.kit import LABELS, Kept
from toolkit.cli.shared.events import parse

pytestmark = pytest.mark.engine

KILLS = int(os.environ.get("HPC_KILLS", "0"))
"""On each backend; unset: one with a folder, where a kill takes 5 s, and two with a bucket. Nightly: 20."""
SEED = int(os.environ.get("HPC_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
PAUSE = 0.1
"""Seconds, at most, between the begin of an operation and the kill; one takes some hundredths of a second."""
_KINDS = {
    "ConfigMap": ("core/v1", "api/v1", "configmaps"),
    "Secret": ("core/v1", "api/v1", "secrets"),
    "ServiceAccount": ("core/v1", "api/v1", "serviceaccounts"),
    "Role": ("rbac.authorization.k8s.io/v1", "apis/rbac.authorization.k8s.io/v1", "roles"),
    "Widget": ("kit.example.com/v1", "apis/kit.example.com/v1", "widgets"),
}
_BODIES: dict[str, Any] = {
    "ConfigMap": lambda version: {"data": {"version": version}},  # replaced
    "Secret": lambda version: {"stringData": {"version": version}, "type": "Opaque"},  # replaced
    "ServiceAccount": lambda _: {"automountServiceAccountToken": False},
    "Role": lambda version: {
        "rules": [{"apiGroups": [""], "resources": ["pods"], "resourceNames": [version], "verbs": ["get"]}]
    },
    "Widget": lambda version: {"spec": {"version": version}},
}
_EACH = 6
Wanted = dict[tuple[str, str], str]


def _world(chance: random.Random) -> Wanted:
    """Draw which objects there are, by kind and name, and in which version."""
    return {
        (kind, f"{kind.lower()}-{number}"): str(chance.randrange(3))
        for kind in _KINDS
        for number in range(_EACH)
        if chance.random() < 0.6
    }


def _declare(stack: Kept, namespace: str, world: Wanted) -> None:
    things, last = [], dict[str, str]()
    for (kind, name), version in world.items():
        group = _KINDS[kind][0]
        metadata = {"name": name, "namespace": namespace, "labels": {**LABELS, "version": version}}
        fields = {
            "apiVersion": group.removeprefix("core/"),
            "kind": kind,
            "metadata": metadata,
            **_BODIES[kind](version),
        }
        options = {"depends_on": [last[kind]]} if kind in last else {}  # five queues, so that several are under way
        things.append(thing(name, f"kubernetes:{group}:{kind}", fields, options=options))
        last[kind] = name
    stack.configure(*things)


def _live(api: Cluster, namespace: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the stack's objects on the cluster: version and UID by kind and name."""
    return {
        (kind, item["metadata"]["name"]): (item["metadata"]["labels"]["version"], item["metadata"]["uid"])
        for kind, (_, path, plural) in _KINDS.items()
        for item in api.get(f"/{path}/namespaces/{namespace}/{plural}")["items"]
        if LABELS.items() <= (item["metadata"].get("labels") or {}).items()
    }


def _state(stack: Kept) -> list[tuple[str, str]]:
    """Return what the state has, by kind and name; whatever is unfinished there fails the test."""
    latest = stack.latest
    assert not latest.get("pending_operations")
    found = []
    for resource in latest["resources"]:
        if resource["type"].startswith("kubernetes:"):
            assert not {"delete", "pendingReplacement", "initErrors"} & resource.keys(), resource["urn"]
            found.append((resource["type"].rpartition(":")[2], resource["id"].rpartition("/")[2]))
    return sorted(found)


def _killed(stack: Kept, operations: int, pause: float) -> list[str]:
    """Kill an update a moment after so many operations started; return what is under way by its state."""
    log = stack.folder / "events"
    log.unlink(missing_ok=True)
    engine = stack.start_pulumi("up", "--yes", "--skip-preview", "--event-log", str(log))
    while engine.poll() is None and _begun(log) < operations:
        time.sleep(0.002)
    time.sleep(pause)
    engine.kill()
    engine.communicate()
    pending = stack.latest.get("pending_operations") or ()
    return [f"{each['type']} {each['resource']['urn'].rpartition('::')[2]}" for each in pending]


def _begun(log: Path) -> int:
    if not log.exists():
        return 0
    events = (parse(line).get("resourcePreEvent") for line in log.read_text().splitlines())
    return sum(event["metadata"]["op"] not in ("same", "read") for event in events if event)


@pytest.mark.parametrize(("kept", "kills"), [("folder", KILLS or 1), ("bucket", KILLS or 2)], indirect=["kept"])
@pytest.mark.usefixtures("widgets")
def test_killed_updates_are_finished(kept: Kept, kills: int, api: Cluster, namespace: str) -> None:
    """After kill -9 the next update creates no object twice, and loses none from state or cluster."""
    say = sys.stdout.write
    say(f"HPC_SEED={SEED} HPC_KILLS={kills}\n")
    chance = random.Random(SEED)  # noqa: S311 - no secret
    interrupted, world = 0, Wanted()
    for number in range(kills):
        past, world = world, _world(chance)
        changes = len(dict(past.items() ^ world.items()))
        _declare(kept, namespace, world)
        under_way = _killed(kept, chance.randint(1, changes), chance.random() * PAUSE)
        say(f"kill {number}, of {changes} changes: {', '.join(under_way)}\n")
        interrupted += bool(under_way)
        kept.repair()
        before = _live(api, namespace)
        refreshed = kept.refresh()
        assert refreshed.status == 0, refreshed.text
        done = kept.up()
        assert done.status == 0, done.text
        after = _live(api, namespace)
        assert {key: version for key, (version, _) in after.items()} == world
        assert _state(kept) == sorted(world)
        there = [key for key, version in world.items() if before.get(key, ("", ""))[0] == version]
        assert [key for key in there if before[key] != after[key]] == [], "made anew, although they were there"
        second = kept.preview("--expect-no-changes")
        assert second.status == 0, second.text
    say(f"{interrupted} of {kills} kills left something under way\n")
