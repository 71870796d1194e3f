"""From the Redpaper's release to today's, on the same stack: the steps of docs/guide/upgrade.md, carried out.

The lab has all jobs of the Redpaper before, and runs two of its seven again after.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
from tests.support.clusters import FULL, require_tools
from tests.support.lab import SETTINGS, Lab, checkout, eventually, plain
from tests.support.plans import Change, changes, table, written
from tests.support.recorded import ROOT
from tests.support.stack_settings import data
from toolkit.simulator.cluster import ClusterSpec

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "guide" / "upgrade.md"
TARGETS = ("**hpc:gpu:SpecialResource**", "**hpc:rdma:RdmaDevicePlugin**", "**::scale-csi**")
RAISE = "./hpc sim up --stack dev --raise"
CHANNELS = {("nfd", "openshift-nfd"): "stable"}
"""Name and namespace of a Subscription that stays -> the channel that it is moved to."""
KEPT: tuple[tuple[Kind, str, str | None], ...] = (
    (kinds.NAMESPACE, "adas", None),
    (kinds.SECURITY_CONTEXT_CONSTRAINTS, "scc-for-mpi", None),
    (kinds.CUSTOM_RESOURCE_DEFINITION, "mpijobs.kubeflow.org", None),
)
DATA = {("PersistentVolume", "replaced"), ("PersistentVolumeClaim", "replaced")}
HANDLE = "8027419560331176409;099B6A7A:5EB99743;path=/mnt/ess3000/adas"


def to_today(platform: dict[str, Any]) -> None:
    """Change the settings of a stack to those of today's release; the cluster stays."""
    today = data("redpaper-today")
    platform.update(today | {"cluster": platform["cluster"]})


def two_jobs(platform: dict[str, Any]) -> None:
    """Leave two jobs, of one and of two machines; that saves half a minute."""
    wanted = [("nccl-all-reduce", {"pods": 2, "gpus": 8}), ("a2d2", {"pods": 16, "gpus": 1, "nodes": 2})]
    for stage in platform["stages"]:
        stage["workloads"] = [
            each for each in stage["workloads"] if (each.get("program"), each.get("layout")) in wanted
        ]
    platform["stages"] = [stage for stage in platform["stages"] if stage["workloads"]]


def engine(lab: Lab, *arguments: str) -> str:
    """Run a command of the engine on stack dev."""
    return lab.works("pulumi", "--stack", "dev", "--", *arguments, "--stack", "dev", "--non-interactive")


def give_accounts(lab: Lab) -> None:
    """Store accounts of the storage's GUI with the stack, as docs/guide/container-native-storage.md describes."""
    secrets = ("cnsa-remote-mount-ess3000", "csi-remote-mount-ess3000")
    values = [f"hpc:scaleGui.{secret}.{key}=simulated" for secret in secrets for key in ("username", "password")]
    engine(lab, "config", "set-all", "--path", *(word for value in values for word in ("--secret", value)))


@dataclass(frozen=True)
class Upgraded:
    """A lab after the upgrade, and the identities of its objects before."""

    lab: Lab
    before: dict[str, str]
    plan: set[Change]
    """What the preview of all of today's settings would change, before the first step."""
    remaining: set[str]
    """Jobs that were left after what the page says to do first."""


def identities(lab: Lab) -> dict[str, str]:
    """Return the uid of every object that must stay the same."""
    return {f"{kind.kind} {name}": lab.api.get(kind, name, space)["metadata"]["uid"] for kind, name, space in KEPT}


def move_channels(lab: Lab) -> None:
    """Move the Subscriptions that stay to today's channels, and wait until OLM has installed the new versions."""

    def installed() -> list[str]:
        return [lab.api.get(kinds.SUBSCRIPTION, *each)["status"]["installedCSV"] for each in CHANNELS]

    former = installed()
    for each, channel in CHANNELS.items():
        lab.api.patch(kinds.SUBSCRIPTION, each[0], {"spec": {"channel": channel}}, each[1])
    eventually(lambda: not set(former) & set(installed()), "OLM installed no new version", installed)


def jobs(lab: Lab, kind: Kind) -> dict[str, dict[str, Any]]:
    """Return the jobs that are on the cluster."""
    return {each["metadata"]["name"]: each for each in lab.api.list(kind, "adas")["items"]}


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgraded]:
    """Give a lab of 2020 after the steps of docs/guide/upgrade.md."""
    require_tools(FULL)
    require_tools(ClusterSpec(mpi="v2beta1"))
    with checkout(tmp_path_factory.mktemp("upgraded")) as lab:
        lab.works("up")
        before = identities(lab)
        file = lab.root / SETTINGS
        former = file.read_text()
        lab.change(to_today)
        give_accounts(lab)
        plan = changes(plain(lab, "dev", "preview", "--json").stdout)  # `./hpc` refuses settings of another release
        today = file.read_text()
        file.write_text(former)
        targets = [word for target in TARGETS for word in ("--target", target)]
        engine(lab, "destroy", "--yes", "--skip-preview", *targets, "--target-dependents")
        remaining = set(jobs(lab, kinds.MPI_JOB_V1ALPHA2))
        file.write_text(today)
        lab.change(two_jobs)
        assert RAISE in lab.fails("up")
        assert "from the constraints of release 4.4" in lab.works(*RAISE.split()[1:])
        move_channels(lab)
        lab.works("up")
        yield Upgraded(lab, before, plan, remaining)


def test_the_plan_is_the_one_on_the_page(upgraded: Upgraded) -> None:
    """The upgrade's preview is what the page lists: volumes get new handles, tenants and rights stay."""
    found = upgraded.plan
    assert {(each.kind, each.step) for each in found if each.kind.startswith("PersistentVolume")} == DATA
    assert {each.step for each in found if each.kind == "Namespace" and each.name == "adas"} <= {"updated"}
    assert Change("updated", "SecurityContextConstraints", "scc-for-mpi") in found
    assert Change("updated", "CustomResourceDefinition", "mpijobs.kubeflow.org") in found
    listed = written(PAGE.read_text())
    assert found - listed == set(), f"{PAGE} lacks rows; its rows should begin so:\n{table(found)}"
    assert listed - found == set(), f"{PAGE} has rows that do not happen; its rows should begin so:\n{table(found)}"


def test_what_must_stay_is_the_same_object(upgraded: Upgraded) -> None:
    """Rights and tenants are the same objects after the upgrade, by their UIDs."""
    assert identities(upgraded.lab) == upgraded.before


def test_the_directory_is_a_volume_of_container_native_storage(upgraded: Upgraded) -> None:
    """The claim is bound again, to a volume of the same name with today's handle."""
    claim = upgraded.lab.api.get(kinds.PERSISTENT_VOLUME_CLAIM, "adas-data-pvc", "adas")
    assert claim["status"]["phase"] == "Bound"
    volume = upgraded.lab.api.get(kinds.PERSISTENT_VOLUME, "adas-data-pv01")
    assert volume["spec"]["csi"]["volumeHandle"] == HANDLE


def test_jobs_run_again_in_the_new_generation(upgraded: Upgraded) -> None:
    """Jobs run again as v2beta1, with a spec of that version."""
    assert upgraded.remaining == set()
    found = jobs(upgraded.lab, kinds.MPI_JOB_V2BETA1)
    assert set(found) == {"nccl-test-02x08", "tf2-a2d2-16x01x02-gpu"}
    for job in found.values():
        assert job["spec"]["launcherCreationPolicy"] == "WaitForWorkersReady"
        assert "Succeeded" in {each["type"] for each in job["status"]["conditions"] if each["status"] == "True"}


def test_nothing_of_2020_is_left(upgraded: Upgraded) -> None:
    """The operators and the RDMA plugin of 2020 are removed."""
    lab = upgraded.lab
    assert lab.api.find(kinds.NAMESPACE, "ibm-spectrum-scale-csi-driver") is None
    assert lab.api.find(kinds.NAMESPACE, "openshift-sro") is None
    assert lab.api.find(kinds.DAEMON_SET, "rdma-shared-dp-ds", "kube-system") is None
    features = lab.api.list(kinds.NODE_FEATURE_DISCOVERY_V1, "openshift-nfd")["items"]
    assert [each["metadata"]["name"] for each in features] == ["nfd-instance"]


def test_nothing_is_left_to_do(upgraded: Upgraded) -> None:
    """After the upgrade neither a refresh nor a preview finds a change."""
    engine(upgraded.lab, "preview", "--refresh", "--expect-no-changes")


def test_the_page_says_what_was_done() -> None:
    """The page has the steps that are tested."""
    page = PAGE.read_text()
    for target in TARGETS:
        assert f"--target '{target}'" in page
    assert "(container-native-storage.md#before-the-first-update)" in page
    assert RAISE.replace("dev", "S") in page
    for (name, namespace), channel in CHANNELS.items():
        assert f"kubectl patch subscription {name} -n {namespace} --type merge" in page
        assert f'{{"spec":{{"channel":"{channel}"}}}}' in page
