"""Volumes of tenants, as settings have them and as jobs get them."""

from typing import Any

import pytest

from stacks.loading.settings import parse
from tests.support.recorded import built
from tests.support.stack_settings import data, expect_refusal

SETS = {"name": "sets", "kind": "claim", "claim": "sets", "storage_class": "nfs", "capacity": "10Ti"}
SCRATCH = {"name": "scratch", "kind": "scratch", "storage_class": "lvms-nvme", "capacity": "500Gi"}
LOCAL = {"name": "cache", "kind": "local", "claim": "cache", "storage_class": "lvms-nvme", "capacity": "2Ti"}
LAKE = {"name": "lake", "kind": "directory", "volume": "lake", "claim": "lake", "path": "/gpfs/lake", "capacity": "1Ti"}
PROGRAM = {"command": ["train.py"], "kinds": ["torch"], "images": ["quay.io/example/train:1.2"]}


def stack(volumes: Any, mounts: Any = None, *, pods: int = 2, **tenant: Any) -> dict[str, Any]:
    """Return the settings of stack pytorch with volumes, and a job of a program with mounts."""
    content = data("pytorch") | {"trainer": None}
    content["tenants"][0] = {**content["tenants"][0], "volumes": volumes, **tenant}
    content["programs"] = {"train": PROGRAM | {"mounts": {} if mounts is None else mounts}}
    layout = {"pods": pods, "gpus": 8}
    workload = {"kind": "torch", "tenant": "training", "name": "it", "program": "train", "layout": layout}
    return content | {"stages": [{"name": "all", "workloads": [workload]}]}


def objects(content: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return what the program declares of a kind."""
    return [dict(each.inputs) for each in built(content) if each.type.endswith(f":{kind}")]


def test_volumes_by_name() -> None:
    """A job has the volumes that its program mounts, and no other; scratch comes with each pod."""
    mounts = {
        "/sets": {"volume": "sets", "folder": "train", "read_only": True},
        "/out": {"volume": "sets", "folder": "out"},
        "/tmp/scratch": {"volume": "scratch"},  # noqa: S108 - a folder of the container
    }
    content = stack([SETS, SCRATCH, SETS | {"name": "other", "claim": "other"}], mounts)
    (job,) = objects(content, "Job")
    pod = job["spec"]["template"]["spec"]
    assert pod["containers"][0]["volumeMounts"][:3] == [
        {"name": "sets", "mountPath": "/sets", "subPath": "train", "readOnly": True},
        {"name": "sets", "mountPath": "/out", "subPath": "out"},
        {"name": "scratch", "mountPath": "/tmp/scratch"},  # noqa: S108
    ]
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "lvms-nvme",
        "resources": {"requests": {"storage": "500Gi"}},
    }
    assert pod["volumes"][:2] == [
        {"name": "sets", "persistentVolumeClaim": {"claimName": "sets"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}},
    ]
    assert [each["name"] for each in pod["volumes"]] == ["sets", "scratch", "dshm"]
    claims = {each["metadata"]["name"]: each["spec"] for each in objects(content, "PersistentVolumeClaim")}
    assert {name: each["storageClassName"] for name, each in claims.items()} == {"sets": "nfs", "other": "nfs"}


def test_programs_that_name_no_volume_mount_data() -> None:
    """A plain text is a folder of the volume `data`."""
    claim = SETS | {"name": "data"}
    short, long = (stack([claim], {"/data": mount}) for mount in ("train", {"volume": "data", "folder": "train"}))
    assert objects(short, "Job") == objects(long, "Job")


@pytest.mark.parametrize("volume", [SETS | {"read_only": True}, SETS | {"access_mode": "ReadOnlyMany"}])
def test_no_job_writes_to_what_is_read_only(volume: dict[str, Any]) -> None:
    """The pod mounts it read-only, whatever the program's mount says."""
    (job,) = objects(stack([volume], {"/sets": {"volume": "sets"}}), "Job")
    pod = job["spec"]["template"]["spec"]
    assert pod["containers"][0]["volumeMounts"][0]["readOnly"] is True
    assert pod["volumes"][0]["persistentVolumeClaim"] == {"claimName": "sets", "readOnly": True}


def test_a_local_volume_is_a_claim_for_one_node() -> None:
    """Its class binds it at first use, to the node of that pod."""
    (claim,) = objects(stack([LOCAL], {"/cache": {"volume": "cache"}}, pods=1), "PersistentVolumeClaim")
    assert (claim["spec"]["accessModes"], claim["spec"]["storageClassName"]) == (["ReadWriteOnce"], "lvms-nvme")


def test_classes_that_the_cluster_must_have() -> None:
    """A simulated cluster gets the classes of all volumes."""
    assert parse(stack([SETS, SCRATCH, LOCAL]), "test").foreign_classes == ("lvms-nvme", "nfs")


@pytest.mark.parametrize(
    ("volumes", "mounts", "expected"),
    [
        ([SETS | {"kind": "nfs"}], {}, "tenants[0].volumes[0].kind: … 'scratch' … 'nfs'); write one of these"),
        (
            [SETS | {"access_mode": "ReadWriteTwice"}],
            {},
            "volumes[0].access_mode: … (value: 'ReadWriteTwice'); write one",
        ),
        ([SETS, SETS], {}, "volumes: name sets of training is given twice; give each its own"),
        (
            [SETS, SETS | {"name": "b"}],
            {},
            "tenants: claim of volumes of training 'sets' is given twice; give each its",
        ),
        ([SETS | {"name": "dshm"}], {}, "volumes: dshm of training is a volume that jobs have …; give another name"),
        (
            [SETS | {"storage_class": "static"}],
            {},
            "volumes.sets.storage_class static of training is not a class; name one",
        ),
        ([LAKE], {}, "volumes.lake of training is a directory, and storage is missing; give it, or a claim"),
        ([SCRATCH | {"read_only": True}], {}, "tenants[0].volumes[0].read_only: …; remove it or correct its name"),
        (
            [SETS],
            {"/a": {"volume": "set"}},
            "program train needs volume set at /a, and tenant training has sets; add it",
        ),
        ([], {"/a": ""}, "program train needs volume data at /a, and tenant training has none; add it to the tenant's"),
        (
            [LOCAL],
            {"/a": {"volume": "cache"}},
            "volume cache of …, which one node … layout 02x08 takes more; use a vol",
        ),
        (
            [SETS | {"access_mode": "ReadWriteOnce"}],
            {"/a": {"volume": "sets"}},
            "program train mounts volume sets of tenant training, which one node … layout 02x08 …; use a volume of",
        ),
    ],
)
def test_what_is_wrong_is_named(volumes: Any, mounts: Any, expected: str) -> None:
    """Place, value and remedy, before anything is created."""
    expect_refusal(stack(volumes, mounts), expected)


def test_releases_without_ephemeral_volumes() -> None:
    """Kubernetes 1.17 would drop the volume's source, and the pod would be refused."""
    content = data("dev")
    content["tenants"][0]["volumes"] = [SCRATCH]
    expect_refusal(
        content, "tenants[0].volumes[0].kind: OpenShift 4.4 does not support scratch; use directory, claim or"
    )


def test_directories_of_two_tenants_are_compared_by_volume() -> None:
    """What holds of `data` holds of every volume: a directory is one tenant's."""
    content = data("prod")
    content["tenants"][1]["volumes"] = [LAKE | {"path": "/mnt/ess3000/adas/inside"}]
    expect_refusal(content, "tenants: volumes.lake.path /mnt/ess3000/adas/inside of … is inside … give each its own")


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        (SCRATCH, "volume scratch of kind scratch is deleted with each pod"),
        (SETS | {"read_only": True}, "sets is read_only"),
    ],
)
def test_checkpoints_outlive_their_pods(volume: dict[str, Any], why: str) -> None:
    """A volume that is deleted with its pods, or cannot be written, holds no checkpoints."""
    content = stack([volume], {"/out": {"volume": volume["name"]}})
    content["programs"]["train"] |= {"checkpoint": "/out/c", "command": ["train.py", "{checkpoint}"]}
    expect_refusal(content, f"job it-02x08: checkpoint /out/c: … {why}; mount a directory or a claim there")


CLASS = {"class_name": "lake-cache", "file_system": "ess3000_4M", "cluster_id": "215057217487177715"}


@pytest.mark.parametrize(
    ("volumes", "access_mode", "expected"),
    [
        ({"mode": "readonly"}, "ReadWriteMany", "volumes … lake-cache: mode readonly … set access_mode ReadOnlyMany"),
        ({"mode": "parallel"}, "ReadOnlyMany", "access_mode ReadOnlyMany … mode parallel … set mode readonly"),
        (None, "ReadOnlyMany", "only caches … use ReadWriteMany and read_only: true"),
    ],
)
def test_access_modes_that_a_class_of_scale_refuses(volumes: Any, access_mode: str, expected: str) -> None:
    """A claim that the driver would refuse for its access mode is refused, with the remedy."""
    content = data("redpaper-today")
    kind = {} if volumes is None else {"volumes": {"kind": "cache", "secret": "bucket", **volumes}}
    content["storage"]["classes"] = [CLASS | kind]
    volume = {**SETS, "name": "cached", "claim": "cached", "storage_class": "lake-cache", "access_mode": access_mode}
    content["tenants"][0]["volumes"] = [volume]
    expect_refusal(content, expected)
