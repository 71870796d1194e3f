"""All signs together, over a server that counts its requests; and what is printed of it."""

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from werkzeug.wrappers import Request, Response

from core.apis import kinds
from core.apis.client import TABLE
from core.apis.kinds import Kind
from tests.support.http_server import as_json, kubeconfig, serving
from tests.support.messages import has
from tests.toolkit.cli.shared.hazards.planted import Planted, cases, settings
from toolkit.cli.shared import console
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.hazards import examination, signs
from toolkit.cli.shared.hazards.hazard import NOT_CHECKED, Hazard
from toolkit.cli.shared.hazards.live import LiveCluster
from toolkit.cli.status import command
from toolkit.cli.status.overview import Overview

_COLUMNS = ("Name", "RemovedInRelease", "RequestsInCurrentHour", "RequestsInLast24h")
_READ = (
    *(kinds.NODE, kinds.CLUSTER_POLICY, kinds.NVIDIA_DRIVER, kinds.NIC_CLUSTER_POLICY, kinds.NIC_NODE_POLICY),
    *(kinds.MACHINE_CONFIG_POOL, kinds.CONTAINER_RUNTIME_CONFIG, kinds.CLUSTER_VERSION, kinds.NODE_NETWORK_STATE),
    *(kinds.IMAGE_REGISTRY_CONFIG, kinds.BUILD_CONFIG, kinds.API_REQUEST_COUNT, kinds.IMAGE_STREAM, kinds.POD),
    kinds.EVENT,
)


@dataclass
class _Server:
    """Answers with objects; kinds in `refused` are forbidden."""

    objects: Planted
    refused: frozenset[str] = frozenset()
    requests: Counter[str] = field(default_factory=Counter)

    def respond(self, request: Request) -> Response:
        """Answer one request."""
        self.requests[request.path] += 1
        if request.path.endswith("/log"):
            name = request.path.split("/")[-2]
            return Response(self.objects.logs[name] if request.args.get("previous") else "")
        kind = next(kind for kind in _READ if f"/{kind.plural}" in request.path and _group(kind) in request.path)
        if kind.kind in self.refused:
            return as_json({"message": f"{kind.plural} is forbidden"}, 403)
        if kind.kind in self.objects.unserved:
            return as_json({"message": "not found"}, 404)
        parts = request.path.split("/")
        namespace = parts[parts.index("namespaces") + 1] if "namespaces" in parts else ""
        if parts[-1] != kind.plural:
            item = self.objects.find(kind, namespace, parts[-1])
            return as_json(item or {"message": "not found"}, 200 if item else 404)
        if request.headers["Accept"] == TABLE:
            assert request.args["includeObject"] == "None"
            rows = [{"cells": [row[name] for name in _COLUMNS]} for row in self.objects.rows(kind)]
            return as_json({"columnDefinitions": [{"name": name} for name in _COLUMNS], "rows": rows})
        return as_json({"items": self.objects.list(kind, namespace)})


def _group(kind: Kind) -> str:
    return f"/{kind.group}/{kind.version}/" if kind.group else "/api/v1/"


@contextmanager
def _cluster(server: _Server, folder: Path) -> Iterator[Cluster]:
    with serving(server.respond) as port:
        yield Cluster(kubeconfig(folder, port), "lab")


def _everything() -> Planted:
    """Return the objects of every denied case on one cluster, as far as they are different ones."""
    objects: dict[tuple[str, ...], Mapping[str, Any]] = {}
    logs: dict[str, str] = {}
    for case in cases():
        if case.name.startswith("denied/"):
            logs |= case.live.logs
            for entry in case.live.objects:
                meta = entry["metadata"]
                objects[entry["apiVersion"], entry["kind"], meta.get("namespace", ""), meta["name"]] = entry
    return Planted([*objects.values()], logs=logs)


def test_each_kind_is_listed_at_most_once(tmp_path: Path) -> None:
    """However many signs need a kind, it is listed once, and the columns alone of what is large."""
    server = _Server(_everything())
    with _cluster(server, tmp_path) as cluster:
        hazards = examination.examine(settings("h200-infiniband"), cluster)
    assert {path: number for path, number in server.requests.items() if number > 1} == {}
    assert server.requests[kinds.NODE.path()] == 1
    assert {hazard.name for hazard in hazards} >= {"driver-upgrade-stuck", "runc", "secure-boot", "api-removed"}
    assert all(hazard.place and hazard.remedy for hazard in hazards if not hazard.undetermined)


def test_a_plain_cluster_has_no_hazard_and_costs_few_requests(tmp_path: Path) -> None:
    """Where there is nothing to find, objects of builds, events and the registry's users are not read."""
    version: dict[str, Any] = {"desired": {"version": "4.20.8"}}
    objects = [
        {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"}}
        | {"status": version}
    ]
    server = _Server(Planted(objects))
    with _cluster(server, tmp_path) as cluster:
        assert examination.examine(settings("h200-infiniband"), cluster) == []
    assert not {kind for kind in (kinds.BUILD_CONFIG, kinds.EVENT) if server.requests[kind.path()]}


def test_what_is_refused_or_not_served_is_one_line(tmp_path: Path) -> None:
    """Signs whose kinds may not be read, or are not served, are named in one line with the reasons."""
    refused = frozenset({"ClusterVersion", "ContainerRuntimeConfig"})
    planted = _everything()
    server = _Server(Planted(planted.objects, frozenset({"NodeNetworkState"}), planted.logs), refused)
    with _cluster(server, tmp_path) as cluster:
        hazards = examination.examine(settings("h200-infiniband"), cluster)
    (unread,) = (hazard for hazard in hazards if hazard.undetermined)
    line = examination.unchecked(hazards)
    assert hazards[-1] is unread
    assert has(line, "hazards not checked: ", "cluster-version", "ClusterVersion: 403, clusterversions is forbidden")
    assert has(line, "runc-pools (ContainerRuntimeConfig: 403")
    assert "\n" not in line
    assert "machine-config-pool" in {hazard.name for hazard in hazards}
    assert [*examination.sentences(hazards)] == [hazard.text for hazard in hazards[:-1]]


def test_tenants_on_a_platform_of_others_are_left_out(tmp_path: Path) -> None:
    """A stack of tenants alone reads nothing: the platform's stack shows its hazards."""
    server = _Server(_everything())
    with _cluster(server, tmp_path) as cluster:
        assert examination.examine(settings("two-layers-tenants"), cluster) == []
    assert server.requests == Counter()


def test_a_cluster_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    """No answer is no absence of hazards."""
    with _cluster(_Server(Planted([])), tmp_path) as cluster:
        pass
    with pytest.raises(Problem, match="does not answer"):
        examination.examine(settings("h200-infiniband"), cluster)


def test_the_last_words_are_of_the_container_that_ended(tmp_path: Path) -> None:
    """The log is that before the restart; of a pod whose log is refused there is none."""
    ended = {"name": "driver", "lastState": {"terminated": {"exitCode": 1}}, "state": {"running": {}}}
    pod = {"metadata": {"name": "one", "namespace": "gpu"}, "status": {"containerStatuses": [ended]}}
    with _cluster(_Server(Planted([], logs={"one": "refused\n"})), tmp_path) as cluster:
        assert LiveCluster(cluster).last_lines(pod, "driver") == "refused\n"
    with serving(lambda _: as_json({"message": "no route to host"}, 500)) as port:
        assert LiveCluster(Cluster(kubeconfig(tmp_path, port), "lab")).last_lines(pod, "driver") == ""


def test_long_lists_come_in_pages(tmp_path: Path) -> None:
    """A list of many objects is read in pages, and is whole; a second look reads none."""
    pages = {"": (["a", "b"], "next"), "next": (["c"], "")}
    requests: list[tuple[str, str]] = []

    def respond(request: Request) -> Response:
        names, more = pages[request.args.get("continue", "")]
        requests.append((request.args["limit"], request.args.get("continue", "")))
        return as_json({"metadata": {"continue": more}, "items": [{"metadata": {"name": name}} for name in names]})

    with serving(respond) as port:
        live = LiveCluster(Cluster(kubeconfig(tmp_path, port), "lab"))
        for _ in range(2):
            assert [node["metadata"]["name"] for node in live.list(kinds.NODE)] == ["a", "b", "c"]
    assert requests == [("50", ""), ("50", "next")]


def test_signs_are_modules_with_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module without the function is an error that names its file and the remedy."""
    monkeypatch.setattr("importlib.import_module", lambda _: object())
    with pytest.raises(TypeError, match=r"hazards/signs/new.py defines no function `hazards`; define it"):
        signs._sign("new")


def test_hazards_are_printed_with_their_remedies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Status prints a hazard, its remedy below it, and what was not checked, on a narrow terminal too."""
    written = io.StringIO()
    monkeypatch.setattr(console, "console", console.new_console(file=written, width=80))
    hazard = Hazard("runc", "MachineConfigPool worker", "MachineConfig [x] keeps runc", "Delete it.", "source")
    unread = Hazard(NOT_CHECKED, "", "removed-apis (the cluster does not serve APIRequestCount)")
    command.show_overview(Overview((), (), (), (), (), hazards=(hazard, unread)))
    lines = written.getvalue().splitlines()
    assert "hazard runc: MachineConfigPool worker: MachineConfig [x] keeps runc" in lines
    assert (
        lines[lines.index("hazard runc: MachineConfigPool worker: MachineConfig [x] keeps runc") + 1] == "  Delete it."
    )
    assert "hazards not checked: removed-apis (the cluster does not serve APIRequestCount)" in lines


def test_a_table_is_its_columns(tmp_path: Path) -> None:
    """A table has a row for each object by the names of its columns, and is None where the kind is not served."""
    server = _Server(_everything())
    with _cluster(server, tmp_path) as cluster:
        rows = cluster.table(kinds.API_REQUEST_COUNT)
    assert rows is not None
    assert json.dumps(rows[0], sort_keys=True) == json.dumps(
        {
            "Name": "flowschemas.v1beta3.flowcontrol.apiserver.k8s.io",
            "RemovedInRelease": "1.35",
            "RequestsInCurrentHour": 0,
            "RequestsInLast24h": 19,
        }
    )
    with _cluster(_Server(Planted([], frozenset({"APIRequestCount"}))), tmp_path) as cluster:
        assert cluster.table(kinds.API_REQUEST_COUNT) is None
