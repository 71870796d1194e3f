"""The simulated catalogue."""

import json
from typing import Any

import pytest
import yaml

from core.apis.operators import OPERATORS, Operator
from toolkit.engine.tools.table import GPU_OPERATOR_TOOLS
from toolkit.simulator import names
from toolkit.simulator.actors import catalogue, running_actors, versions
from toolkit.simulator.actors.package import Bundle, Package
from toolkit.simulator.actors.packages import packages
from toolkit.simulator.processes import configurations
from toolkit.simulator.state import CATALOGUES

BUNDLES = [(package, bundle) for package in packages().values() for bundle in package.channels.values()]
each_bundle = pytest.mark.parametrize(("package", "bundle"), BUNDLES, ids=lambda each: getattr(each, "name", None))
PORTS = {**dict.fromkeys(CATALOGUES, 1), catalogue.EMPTY: 2}


def channel(package: str, name: str) -> list[dict[str, Any]]:
    """Return the bundles of a channel."""
    offered = packages()[package]
    return catalogue.bundles(offered, name, offered.channels[name])


def test_a_channel_is_a_chain() -> None:
    """Each version replaces the one before; the head alone also replaces what is earlier than the channel."""
    first, head = channel("nfd", "4.4")
    assert (first["replaces"], head["replaces"]) == ("", first["csvName"])
    assert (first["skipRange"], head["skipRange"]) == ("", f"<{first['version']}")
    assert first["version"] == "4.4.0-202006011320"
    csv = json.loads(head["csvJson"])
    assert (csv["metadata"]["name"], csv["spec"]["replaces"]) == (head["csvName"], first["csvName"])
    assert "namespace" not in csv["metadata"]
    (definition,) = packages()["nfd"].channels["4.4"].definitions
    assert [json.loads(obj)["metadata"]["name"] for obj in head["object"]] == [head["csvName"], definition.name]
    assert head["properties"][1] == {
        "type": "olm.gvk",
        "value": json.dumps(
            {"group": "nfd.openshift.io", "version": "v1alpha1", "kind": "NodeFeatureDiscovery"},
        ),
    }


def test_a_mirror_has_what_its_index_has() -> None:
    """A CatalogSource of another name offers what the catalogue does whose index image it mirrors; others nothing."""
    image = "mirror.example.com/redhat/redhat-operator-index:v4.20"
    mirror: dict[str, Any] = {"metadata": {"name": "cs-redhat"}, "spec": {"image": image}}
    assert catalogue.content(mirror) == "redhat-operators"
    assert catalogue.content({"metadata": {"name": "redhat-operators"}, "spec": {}}) == "redhat-operators"
    assert catalogue.content({**mirror, "spec": {"image": "site.example.com/own:v1"}}) == catalogue.EMPTY
    assert catalogue.of_images(["registry/opm:latest", image]) == "redhat-operators"


def test_each_catalogue_offers_its_packages_at_its_port() -> None:
    """A package is in the catalogues that it names, with its channels and the default one, and in no other."""
    served = catalogue.served(PORTS, GPU_OPERATOR_TOOLS[:1])
    assert {name: part["port"] for name, part in served.items()} == PORTS
    offered = {name: [package["name"] for package in part["packages"]] for name, part in served.items()}
    assert offered["community-operators"] == ["ibm-spectrum-scale-csi-operator", "special-resource-operator"]
    assert offered[catalogue.EMPTY] == []
    (nfd,) = (package for package in served["redhat-operators"]["packages"] if package["name"] == "nfd")
    assert (nfd["defaultChannelName"], [entry["name"] for entry in nfd["channels"]]) == ("stable", ["stable", "4.4"])


def test_a_bundle_needs_the_tool_that_its_definitions_are_of() -> None:
    """A cluster without the real GPU Operator's files offers no channel of it, and all others."""
    without = catalogue.served(PORTS, ())["certified-operators"]
    (gpus,) = (package for package in without["packages"] if package["name"] == "gpu-operator-certified")
    offered = [name for name in packages()[gpus["name"]].channels if name != "v25.3"]
    assert [entry["name"] for entry in gpus["channels"]] == offered
    assert "v25.3" not in {bundle["channelName"] for bundle in without["bundles"]}


@each_bundle
def test_every_operator_is_played_and_may_own_its_kind(package: Package, bundle: Bundle) -> None:
    """Every operator has an actor for its image, and rights on its kinds."""
    csv = versions.cluster_service_version(package, bundle.versions[-1])
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


def test_every_version_has_a_number() -> None:
    """OLM reads semantic versions; a name without one is refused."""
    assert versions.number("nfd.4.4.0-202007240028.p0") == "4.4.0-202007240028.p0"
    assert versions.number("gpu-operator-certified.v26.7.0") == "26.7.0"
    with pytest.raises(ValueError, match="own-operator has no version such as"):
        versions.number("own-operator")
