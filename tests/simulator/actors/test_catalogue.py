"""The simulated catalogue."""

from typing import Any

import pytest
import yaml

from apis import kinds
from simulator import names, stages
from simulator.actors import catalogue, played, versions
from simulator.actors.catalogue import NotInCatalogueError
from simulator.actors.package import Bundle, Package
from simulator.actors.packages import packages

BUNDLES = [(package, bundle) for package in packages().values() for bundle in package.channels.values()]
each_bundle = pytest.mark.parametrize(("package", "bundle"), BUNDLES, ids=lambda each: getattr(each, "name", None))


def spec(**changes: str) -> dict[str, Any]:
    """Return a Subscription's spec."""
    return {"name": "nfd", "source": "redhat-operators", "channel": "4.4", **changes}


def test_first_version_is_the_starting_one_or_the_last() -> None:
    """Prevents an installation of another version than the one asked for."""
    old, new = packages()["nfd"].channels["4.4"].versions
    assert catalogue.next_version(spec(), None) == new
    assert catalogue.next_version(spec(startingCSV=old), None) == old
    assert catalogue.next_version(spec(startingCSV=old), old) == new
    assert catalogue.next_version(spec(), new) is None


def test_another_channel_goes_on_from_what_is_installed() -> None:
    """Prevents an upgrade that is refused because the subscription still names the version that it began with."""
    scale = packages()["ibm-spectrum-scale-csi-operator"]
    (former,), (today,) = (bundle.versions for bundle in scale.channels.values())
    wanted = {"name": scale.name, "source": "certified-operators", "channel": "v3.1", "startingCSV": former}
    assert catalogue.next_version(wanted, former) == today


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "nothing"}, "package nothing"),
        ({"source": "certified-operators"}, "catalog certified-operators"),
        ({"channel": "9.9"}, "channel 9.9"),
        ({"startingCSV": "nfd.v0"}, "name nfd.v0"),
    ],
)
def test_what_is_not_there_is_refused(changes: dict[str, str], complaint: str) -> None:
    """Prevents a Subscription with a typing error from installing something."""
    with pytest.raises(NotInCatalogueError, match=complaint):
        catalogue.next_version(spec(**changes), None)


@each_bundle
def test_every_operator_is_played_and_may_own_its_kind(package: Package, bundle: Bundle) -> None:
    """Prevents an operator that installs and then does nothing: no actor for its image, no right on its kind."""
    csv = versions.version(package, bundle.versions[-1], "ns", "group", replaces=None)
    pod = csv["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]
    assert played.actor_of(pod) is not None
    rights = {(group, resource) for rule in bundle.rules for group in rule.groups for resource in rule.resources}
    assert {(each.kind.group, each.kind.plural) for each in bundle.definitions} <= rights


@each_bundle
def test_no_operator_has_every_right(package: Package, bundle: Bundle) -> None:
    """Prevents a role by which the failure of another one could not be seen."""
    assert all("*" not in (*rule.groups, *rule.resources, *rule.verbs) for rule in bundle.rules), package.name


def test_definition_has_the_required_keys_and_keeps_the_rest() -> None:
    """Prevents a CSIScaleOperator without its clusters, or with a number for an id, from being accepted."""
    (definition,) = packages()["ibm-spectrum-scale-csi-operator"].channels["stable"].definitions
    made = definition.manifest()
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert schema["required"] == ["clusters", "scaleHostpath"]
    assert schema["x-kubernetes-preserve-unknown-fields"] is True
    assert schema["properties"]["clusters"]["items"]["properties"]["id"] == {"type": "string"}
    assert made["metadata"]["name"] == "csiscaleoperators.csi.ibm.com"
    assert made["spec"]["scope"] == "Namespaced"


def test_parts_of_a_version_belong_to_it() -> None:
    """Prevents leftovers: cluster-wide rights carry labels to be found by, the rest an owner."""
    csv = versions.version(
        packages()["special-resource-operator"], "special-resource-operator.v0.0.1", "ns", "group", replaces=None
    )
    csv["metadata"]["uid"] = "u"
    made = versions.parts(csv)
    assert [kind for kind, _ in made] == [
        kinds.SERVICE_ACCOUNT,
        kinds.CLUSTER_ROLE,
        kinds.CLUSTER_ROLE_BINDING,
        kinds.DEPLOYMENT,
    ]
    for kind, body in made:
        assert body["metadata"]["labels"] == {
            versions.OWNER: "special-resource-operator.v0.0.1",
            versions.OWNER_NAMESPACE: "ns",
        }
        assert ("ownerReferences" in body["metadata"]) == (kind.scope == "Namespaced")


def test_stages_select_on_the_runtimes_annotations() -> None:
    """Prevents pods that stay Pending by different names, and patches of an earlier stage that overtake a later one."""
    text = "\n---\n".join(file.read_text() for file in stages.files())
    used = {names.VOLUMES, names.INIT, names.EXIT_CODE, names.RUN_FOR, names.TERMINATION_MESSAGE}
    assert all(name in text for name in used)
    found = list(yaml.safe_load_all(text))
    assert {stage["kind"] for stage in found} == {"Stage"}
    patches = [patch for stage in found for patch in stage["spec"]["next"].get("patches", [])]
    assert all("resourceVersion: {{ .metadata.resourceVersion" in patch["template"] for patch in patches)


def test_objects_of_2020_survive_the_operator_of_today() -> None:
    """Prevents an upgrade that the API server refuses: a version that objects are stored in must stay in the CRD."""
    nfd = packages()["nfd"]
    (old,), (new,) = (nfd.channels[name].definitions for name in ("4.4", "stable"))
    assert old.name == new.name
    versions_of = {each["name"]: each["storage"] for each in new.manifest()["spec"]["versions"]}
    assert versions_of == {"v1": True, "v1alpha1": False}
    last = nfd.channels["4.4"].versions[-1]
    assert catalogue.next_version(spec(channel="stable"), last) == nfd.channels["stable"].versions[-1]


@pytest.mark.parametrize(
    ("targets", "why"),
    [
        (["nvidia-gpu-operator"], None),
        (["adas"], None),
        ([""], "AllNamespaces InstallModeType not supported, cannot configure to watch all namespaces"),
        (["a", "b"], "MultiNamespace InstallModeType not supported, cannot configure to watch 2 namespaces"),
    ],
)
def test_install_modes(targets: list[str], why: str | None) -> None:
    """Prevents a GPU operator that installs where the field's fails: beside an OperatorGroup of all namespaces."""
    package = packages()["gpu-operator-certified"]
    version = package.channels["v26.7"].versions[-1]
    csv = versions.version(package, version, "nvidia-gpu-operator", "group", replaces=None)
    assert versions.unsupported(csv, targets) == why
