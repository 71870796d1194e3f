"""Every object that our stacks declare, sent to a real API server with the real definitions, without being kept.

The server knows what no schema at hand says: core kinds, CEL rules, defaults, and what is refused by code.
"""

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from core.apis import kinds
from stacks.loading import settings
from tests.conformance.definitions import real
from tests.conformance.rendered import SECOND_SERVER, is_custom, is_of, not_served
from tests.conformance.server import Server, served_together
from tests.support.clusters import running
from tests.support.recorded import OURS, ROOT, environment
from toolkit.engine import tools
from toolkit.engine.tools.table import DATA_OF
from toolkit.render.manifests import manifests
from toolkit.simulator.cluster import ClusterSpec

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]
STACKS = tuple(name for name in OURS if settings.load(name, ROOT).version.simulated_as)


@cache
def rendered(stack: str) -> tuple[Manifest, ...]:
    """Return the objects of a stack."""
    return tuple(manifests(environment(stack)))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Give an API server that serves all kinds of our stacks, and has their namespaces."""
    with running(ClusterSpec(name="test-conformance", actors=False, release="current")) as cluster:
        tools.ensure(DATA_OF)
        made = Server(cluster)
        objects = [each for stack in STACKS for each in rendered(stack)]
        ours = [each for each in objects if is_of(each, kinds.CUSTOM_RESOURCE_DEFINITION)]
        # Ours and the real ones have the same names, so ours are judged before there are others.
        assert made.all_faults(ours) == []
        used = {(each["apiVersion"], each["kind"]) for each in objects if is_custom(each) and not made.serves(each)}
        known = [kind for name in sorted(used) if (kind := kinds.find(*name))]
        theirs = [definition for kind in known for definition in real(kind)]
        made.install(served_together([*theirs, *ours]))
        spaces = sorted({each["metadata"].get("namespace", "default") for each in objects})
        made.install([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in spaces])
        yield made


@pytest.mark.parametrize("stack", STACKS)
def test_a_server_takes_every_object(stack: str, server: Server) -> None:
    """A real API server accepts every object of the stack, with strict fields."""
    objects = rendered(stack)
    asked = [
        each
        for each in objects
        if not_served(each, objects) is None and not is_of(each, kinds.CUSTOM_RESOURCE_DEFINITION)
    ]
    assert server.all_faults(asked) == []


def test_what_no_server_can_judge_is_known() -> None:
    """The kinds that are not sent to the server are these, each with its reason."""
    found = {
        (each["kind"], why)
        for stack in STACKS
        for each in rendered(stack)
        if (why := not_served(each, rendered(stack)))
    }
    assert found == {
        ("BuildConfig", SECOND_SERVER),
        ("CSIScaleOperator", "that of 2.0 has none"),
        ("ImageStream", SECOND_SERVER),
        ("NodeFeatureDiscovery", "the definition of 2020 has no schema of its fields"),
        ("SpecialResource", "the definition of 2020 has an empty schema"),
    }


@pytest.mark.parametrize(
    ("kind", "path"),
    [("Deployment", ("spec", "template", "spec")), ("ClusterPolicy", ("spec", "driver")), ("MPIJob", ("spec",))],
)
def test_a_misspelt_field_is_refused(kind: str, path: tuple[str, ...], server: Server) -> None:
    """A misspelt field is refused, and not dropped as a server does by default."""
    manifest = copy.deepcopy(next(each for each in rendered("prod") if each["kind"] == kind))
    assert server.faults(manifest) == []
    place = manifest
    for name in path:
        place = place[name]
    place["misspelt"] = True
    faults = server.faults(manifest)
    assert len(faults) == 1
    assert "misspelt" in faults[0]
