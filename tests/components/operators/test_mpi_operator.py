"""The MPI operator of today."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import ValidationError

from components.operators.mpi_operator import MpiOperator, MpiOperatorArgs
from components.operators.mpi_operator_generations import GENERATIONS, schema_v2beta1
from core.apis import kinds
from tests.components.kit import mpi_job_manifest as job
from tests.conformance.schema import expect_conformity, violations
from tests.support import recorded
from toolkit.engine.tools import cache_folder
from toolkit.engine.tools.table import DATA_OF

Registered = tuple[Any, ...]
FILE = cache_folder() / DATA_OF["mpi-operator-manifests"].cache_name() / "mpi-operator.yaml"


@cache
def operator() -> Registered:
    """Return the registrations of today's operator."""
    args = MpiOperatorArgs(kind=kinds.MPI_JOB_V2BETA1, image="mpioperator/mpi-operator:0.8.2")
    return recorded.component(lambda: MpiOperator("mpi-operator", args))


@cache
def upstream() -> tuple[dict[str, Any], ...]:
    """Return upstream's own objects; skip where they are not at hand."""
    if not FILE.exists():
        pytest.skip(f"{FILE} is missing: `python -c 'from toolkit.engine import tools; tools.ensure()'` fetches it")
    return tuple(yaml.load_all(FILE.read_bytes(), Loader=yaml.CSafeLoader))


def ours() -> dict[str, Any]:
    """Return our own definition."""
    definition = recorded.only_object(operator(), "CustomResourceDefinition")
    return {"spec": definition.inputs["spec"]}


def test_jobs_have_the_shape_of_upstreams_definition() -> None:
    """Jobs match upstream's definition."""
    (real,) = [each for each in upstream() if each["kind"] == "CustomResourceDefinition"]
    expect_conformity(job(), definitions=[real])
    assert violations(job() | {"spec": {**job()["spec"], "cleanPodPolicy": "Running"}}, [real])


def test_jobs_have_the_shape_of_our_definition() -> None:
    """Jobs match this project's definition."""
    expect_conformity(job(), definitions=[ours()])


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(manifest: dict[str, Any]) -> None:
        *before, last = path.split(".")
        for part in before:
            manifest = manifest[part]
        manifest[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("spec.slotsPerWorker", -1),
        _set("spec.cleanPodPolicy", "Running"),
        _set("spec.mpiImplementation", "OpenMPI5"),
        _set("spec.launcherCreationPolicy", "Later"),
        _set("spec.sshAuthMountPath", ""),
        _set("spec.runPolicy.cleanPodPolicy", "Some"),
        _set("spec.runPolicy.backoffLimit", -1),
        _set("spec.runPolicy.managedBy", "somebody"),
        _set("spec.mpiReplicaSpecs.Launcher.replicas", 2),
        _set("spec.mpiReplicaSpecs.Worker.replicas", 0),
        _set("spec.mpiReplicaSpecs.Worker.restartPolicy", "Always"),
        _set("spec.mpiReplicaSpecs.Master", {"template": {}}),
    ],
)
def test_our_definition_refuses_what_the_operator_would_ignore(change: Callable[[dict[str, Any]], None]) -> None:
    """The definition rejects what the operator would only report in an event."""
    manifest = job()
    change(manifest)
    assert violations(manifest, [ours()])


def test_our_definition_knows_every_field_of_upstreams() -> None:
    """The definition has every field of upstream's outside pod templates."""
    (real,) = [each for each in upstream() if each["kind"] == "CustomResourceDefinition"]
    theirs = real["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    own = schema_v2beta1()["properties"]["spec"]["properties"]
    assert own.keys() == theirs.keys()
    assert own["runPolicy"]["properties"].keys() == theirs["runPolicy"]["properties"].keys()
    for name, field in own.items():
        assert field.get("default", theirs[name].get("default")) == theirs[name].get("default")


def test_ports_get_the_default_protocol_of_upstreams_definition() -> None:
    """A port without a protocol gets TCP, as with upstream's definition: Kueue takes a job without it for changed."""
    (real,) = [each for each in upstream() if each["kind"] == "CustomResourceDefinition"]
    theirs = real["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    own = schema_v2beta1()["properties"]["spec"]["properties"]["mpiReplicaSpecs"]["properties"]
    for replicas in (theirs["mpiReplicaSpecs"]["additionalProperties"], own["Launcher"], own["Worker"]):
        pod = replicas["properties"]["template"]["properties"]["spec"]["properties"]
        for containers in ("containers", "initContainers"):
            port = pod[containers]["items"]["properties"]["ports"]["items"]["properties"]
            assert port["protocol"]["default"] == "TCP"


def test_schema_is_a_schema() -> None:
    """The schema is a valid JSON schema."""
    jsonschema.Draft202012Validator.check_schema(schema_v2beta1())


def test_former_generation_can_still_be_deleted() -> None:
    """The former version is still served, so that its objects can be deleted."""
    versions = {
        each["name"]: (each["served"], each["storage"], each.get("deprecated")) for each in ours()["spec"]["versions"]
    }
    assert versions == {"v2beta1": (True, True, None), "v1alpha2": (True, False, True)}


@pytest.mark.parametrize("version", ["v1alpha2", "v2beta1"])
def test_no_generation_has_a_wildcard(version: str) -> None:
    """No rule of any generation has a wildcard."""
    generation = GENERATIONS[version]
    for group, resources, verbs in (*generation.rules, *generation.own_rules):
        assert "*" not in (group, *resources, *verbs)


def test_operator_of_today_holds_no_more_than_upstream_gives_it() -> None:
    """Rules of v0.8.2 are within upstream's, but for the one that upstream lacks."""
    (role,) = [
        each for each in upstream() if (each["kind"], each["metadata"]["name"]) == ("ClusterRole", "mpi-operator")
    ]
    given = {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    generation = GENERATIONS["v2beta1"]
    held = {
        (group, resource, verb)
        for group, resources, verbs in (*generation.rules, *generation.own_rules)
        for resource in resources
        for verb in verbs
    }
    extra = {each for each in held - given if (*each[:2], "*") not in given}
    assert extra == {("batch", "jobs/status", "update")}
    assert not {resource for _, resource, _ in held} & {"pods/exec", "customresourcedefinitions", "endpoints"}


def test_the_lock_is_in_the_operators_own_namespace() -> None:
    """Leases are granted in the operator's own namespace alone."""
    assert not [rule for rule in GENERATIONS["v2beta1"].rules if "leases" in rule[1]]
    role = recorded.only_object(operator(), "Role")
    assert role.inputs["metadata"]["namespace"] == "mpi-operator"
    assert role.inputs["rules"][0]["resources"] == ["leases"]


def test_operator_of_today_gets_its_own_arguments() -> None:
    """v0.8.2 gets no flag of 2020."""
    pod = recorded.spec(operator(), "Deployment")["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"] == [
        *("-alsologtostderr", "--lock-namespace", "mpi-operator", "--kube-api-qps=50", "--kube-api-burst=100")
    ]
    assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def test_only_the_generation_of_2020_needs_a_delivery_image() -> None:
    """Only v1alpha2 requires the image that delivers kubectl."""
    with pytest.raises(ValidationError, match="kubectl_delivery_image: launchers of v1alpha2 need it"):
        MpiOperatorArgs(kind=kinds.MPI_JOB_V1ALPHA2, image="mpioperator/mpi-operator:v0.2.3")
    with pytest.raises(ValidationError, match="no operator of MPIJob v1 is known"):
        MpiOperatorArgs(kind=kinds.MPI_JOB_V1, image="x/y:1")
