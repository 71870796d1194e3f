"""The simulated catalogue."""

from typing import Any

import pytest
import yaml

from core.apis import kinds
from core.apis.operators import OPERATORS, Operator
from toolkit.simulator import names
from toolkit.simulator.actors import catalogue, running_actors, versions
from toolkit.simulator.actors.catalogue import NotInCatalogueError
from toolkit.simulator.actors.package import Bundle, Package
from toolkit.simulator.actors.packages import packages
from toolkit.simulator.processes import configurations

BUNDLES = [(package, bundle) for package in packages().values() for bundle in package.channels.values()]
each_bundle = pytest.mark.parametrize(("package", "bundle"), BUNDLES, ids=lambda each: getattr(each, "name", None))


def spec(**changes: str) -> dict[str, Any]:
    """Return a Subscription's spec."""
    return {"name": "nfd", "source": "redhat-operators", "channel": "4.4", **changes}


def test_first_version_is_the_starting_one_or_the_last() -> None:
    """The requested version is installed."""
    old, new = packages()["nfd"].channels["4.4"].versions
    assert catalogue.next_version(spec(), None) == new
    assert catalogue.next_version(spec(startingCSV=old), None) == old
    assert catalogue.next_version(spec(startingCSV=old), old) == new
    assert catalogue.next_version(spec(), new) is None


def test_a_mirror_has_what_its_index_has() -> None:
    """A CatalogSource of another name offers what the catalogue does whose index image it mirrors."""
    image = "mirror.example.com/redhat/redhat-operator-index:v4.20"
    mirror = {"metadata": {"name": "cs-redhat"}, "spec": {"image": image}}
    assert catalogue.content(mirror) == "redhat-operators"
    mirrored = spec(source="cs-redhat")
    assert catalogue.next_version(mirrored, None, catalogue.content(mirror)) == catalogue.next_version(spec(), None)
    with pytest.raises(NotInCatalogueError):
        catalogue.next_version(mirrored, None, catalogue.content({**mirror, "spec": {}}))


def test_another_channel_goes_on_from_what_is_installed() -> None:
    """An upgrade goes on though the Subscription names a startingCSV."""
    scale = packages()["ibm-spectrum-scale-csi-operator"]
    (former,), (today,) = (bundle.versions for bundle in scale.channels.values())
    wanted = {"name": scale.name, "source": "certified-operators", "channel": "v3.1", "startingCSV": former}
    assert catalogue.next_version(wanted, former) == today
    assert catalogue.next_version({**wanted, "channel": "stable"}, today) is None, "OLM goes back"


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
    """A Subscription of an unknown package installs nothing."""
    with pytest.raises(NotInCatalogueError, match=complaint):
        catalogue.next_version(spec(**changes), None)


@each_bundle
def test_every_operator_is_played_and_may_own_its_kind(package: Package, bundle: Bundle) -> None:
    """Every operator has an actor for its image, and rights on its kinds."""
    csv = versions.version(package, bundle.versions[-1], "ns", "group", replaces=None)
    pod = csv["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]
    assert running_actors.actor_of(pod) is not None
    rights = {(group, resource) for rule in bundle.rules for group in rule.groups for resource in rule.resources}
    assert {(each.kind.group, each.kind.plural) for each in bundle.definitions} <= rights


@each_bundle
def test_no_operator_has_every_right(package: Package, bundle: Bundle) -> None:
    """No operator's role has a wildcard."""
    assert all("*" not in (*rule.groups, *rule.resources, *rule.verbs) for rule in bundle.rules), package.name


@pytest.mark.parametrize(
    "operator", [each for each in OPERATORS.values() if each.recommended], ids=lambda each: str(each.package)
)
def test_what_is_recommended_can_be_simulated(operator: Operator) -> None:
    """The simulated catalogue has an operator's recommended source, channels and mode, and its own object's kind."""
    package, recommended = packages().get(operator.package), operator.recommended
    assert package, (
        f"add a module to toolkit/simulator/actors/packages/, with package {operator.package} in its PACKAGES"
    )
    assert recommended
    assert recommended.source in package.sources
    for channel in recommended.channels.values():
        bundle = package.channels[channel]
        assert ("OwnNamespace" if recommended.own_namespace_only else "AllNamespaces") in bundle.modes
        if operator.instance:
            assert operator.instance.kind in [each.kind for each in bundle.definitions]


def test_definition_has_the_required_keys_and_keeps_the_rest() -> None:
    """A CSIScaleOperator without clusters, or with a number for an id, is refused."""
    (definition,) = packages()["ibm-spectrum-scale-csi-operator"].channels["stable"].definitions
    made = definition.manifest()
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert schema["required"] == ["clusters", "scaleHostpath"]
    assert schema["x-kubernetes-preserve-unknown-fields"] is True
    assert schema["properties"]["clusters"]["items"]["properties"]["id"] == {"type": "string"}
    assert made["metadata"]["name"] == "csiscaleoperators.csi.ibm.com"
    assert made["spec"]["scope"] == "Namespaced"


def test_parts_of_a_version_belong_to_it() -> None:
    """All that OLM makes is removed with the version: cluster-wide rights have labels, the rest an owner."""
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
    """A stage's patches name the pod's version, and cannot overtake those of a later one."""
    text = "\n---\n".join(file.read_text() for file in configurations.stages())
    used = {names.VOLUMES, names.INIT, names.EXIT_CODE, names.RUN_FOR, names.TERMINATION_MESSAGE}
    assert all(name in text for name in used)
    found = list(yaml.safe_load_all(text))
    assert {stage["kind"] for stage in found} == {"Stage"}
    patches = [patch for stage in found for patch in stage["spec"]["next"].get("patches", [])]
    assert all("resourceVersion: {{ .metadata.resourceVersion" in patch["template"] for patch in patches)


def test_objects_of_2020_survive_the_operator_of_today() -> None:
    """A definition keeps the versions in which objects are stored."""
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
    """Install modes are checked: the GPU operator fails beside an OperatorGroup of all namespaces."""
    package = packages()["gpu-operator-certified"]
    version = package.channels["v26.7"].versions[-1]
    csv = versions.version(package, version, "nvidia-gpu-operator", "group", replaces=None)
    assert versions.unsupported(csv, targets) == why
