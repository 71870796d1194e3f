"""The waves of every stack of the checkout: what needs what is there before it."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import pulumi
import pytest
from pulumi.output import UNKNOWN
from pulumi_kubernetes import core, meta

from core.pulumi_values import REDACTED, UNKNOWN_STRING
from stacks.loading.settings import stack_names
from tests.support.recorded import ROOT, before
from toolkit.render import manifests
from toolkit.render.gitops import argocd, flux
from toolkit.render.gitops.waves import UnknownValueError, Waves, waves
from toolkit.render.manifests import file_name, kind_of, manifest_of
from toolkit.render.recorder import Registration, record

STACKS = sorted(stack_names(ROOT))


def recorded(stack: str) -> tuple[Registration, ...]:
    """Return what a stack registers in a first preview."""
    return manifests.registrations(stack, first_preview=True)


@cache
def ordered(stack: str) -> Waves:
    """Return the waves of a stack."""
    return waves(recorded(stack))


def numbers(stack: str) -> dict[str, int]:
    """Return the wave of each file."""
    return {member.file: number for number, members in enumerate(ordered(stack).members) for member in members}


TOGETHER = {
    ("BuildConfig", "ImageStream"),
    ("KubeletConfig", "MachineConfigPool"),
    ("MachineConfig", "MachineConfigPool"),
}
"""Kinds that the program creates after the other, whose wait they end: an image in the stream, a pool's rollout."""


@pytest.mark.parametrize("stack", STACKS)
def test_what_an_object_depends_on_is_in_an_earlier_wave(stack: str) -> None:
    """Also through waits and Secrets; what ends the wait of an object that it depends on is in the same wave."""
    number, by_urn = numbers(stack), {item.urn: item for item in recorded(stack)}
    objects = {item.urn: file_name(manifest_of(item)) for item in by_urn.values() if item.is_kubernetes}
    for item in by_urn.values():
        file = objects.get(item.urn, "")
        if file not in number or item.type.endswith(("Patch", ":CustomResourceDefinition")):
            continue
        for needed in before(item, by_urn):
            together = (kind_of(item), kind_of(needed)) in TOGETHER
            earlier = number.get(objects[needed.urn], -1)
            assert earlier < number[file] or (together and earlier == number[file]), (file, needed.name)


@pytest.mark.parametrize("stack", STACKS)
def test_a_namespace_and_a_kind_are_there_first(stack: str) -> None:
    """Objects come after their namespace and after the definition of their kind, where the stack declares these."""
    number = numbers(stack)
    definitions: dict[tuple[str, str], int] = {}
    for members in ordered(stack).members:
        for member in members:
            if member.manifest["kind"] == "CustomResourceDefinition":
                assert number[member.file] == 0
                spec = member.manifest["spec"]
                definitions[spec["group"], spec["names"]["kind"]] = 0
    for members in ordered(stack).members:
        for member in members:
            kind, namespace, _ = member.identity
            group = member.manifest["apiVersion"].rpartition("/")[0]
            first = max(number.get(f"namespace.{namespace}.yaml", -1), definitions.get((group, kind), -1))
            assert number[member.file] > first, member.file


@pytest.mark.parametrize("stack", STACKS)
def test_every_manifest_is_in_one_wave(stack: str) -> None:
    """The waves have all that `./hpc render -o` writes, and pools of somebody else that the stack waits for."""
    plain = {file_name(manifest) for manifest in manifests.manifests(recorded(stack))}
    files = [member.file for members in ordered(stack).members for member in members]
    assert len(files) == len(set(files))
    assert {file for file in set(files) - plain if not file.startswith("machineconfigpool.")} == set()
    assert plain <= set(files)


@pytest.mark.parametrize("stack", STACKS)
def test_files_have_no_secret_and_nothing_of_pulumi(stack: str) -> None:
    """No value is secret or unknown, no annotation is Pulumi's, and the label names the tool."""
    for tool, name in ((argocd, "argocd"), (flux, "flux")):
        files = tool.files(ordered(stack), stack, "platform", None)
        text = "".join(files.values())
        assert REDACTED not in text
        assert UNKNOWN_STRING not in text
        assert "kind: Secret\n" not in text
        objects = {file: text for file, text in files.items() if file.startswith("waves/")}
        assert [file for file, text in objects.items() if "pulumi.com/" in text] == []
        labelled = [text for text in objects.values() if "\n    app.kubernetes.io/managed-by:" in text]
        assert all(f"\n    app.kubernetes.io/managed-by: {name}\n" in text for text in labelled)
        assert labelled


def test_waits_of_an_object_are_those_of_the_program() -> None:
    """A pool that the stack declares has the wait of its rollout, and no wait is lost but that for OLM's versions."""
    texts = [
        item.inputs["metadata"].get("annotations", {}).get("pulumi.com/waitFor")
        for item in recorded("prod")
        if item.is_kubernetes and "ClusterServiceVersion" not in item.type
    ]
    kept = [member.waits for members in ordered("prod").members for member in members if member.waits]
    assert sorted(json.dumps([*waits]) for waits in kept) == sorted(
        json.dumps(json.loads(text) if text.startswith("[") else [text]) for text in texts if text
    )


def test_secrets_are_listed_by_key() -> None:
    """A Secret is a reference: namespace, name, type, keys and the first wave that uses it."""
    found = {secret.name: secret for secret in ordered("prod").secrets if secret.namespace != "simulation"}
    assert found["registries"].type == "kubernetes.io/dockerconfigjson"
    assert found["registries"].keys == (".dockerconfigjson",)
    remote = found["cnsa-remote-mount-ess3000"]
    assert (remote.namespace, remote.keys) == ("ibm-spectrum-scale", ("password", "username"))
    assert remote.needed == numbers("prod")["cluster.ibm-spectrum-scale.yaml"]


def config_map(name: str, data: Mapping[str, Any], **metadata: Any) -> core.v1.ConfigMap:
    """Declare a ConfigMap."""
    return core.v1.ConfigMap(name, metadata=meta.v1.ObjectMetaArgs(name=name, namespace="here", **metadata), data=data)


def test_a_value_that_an_update_determines_is_refused() -> None:
    """The message names the object and the field."""

    def declare() -> None:
        config_map("second", {"key": pulumi.Output.from_input(cast("str", UNKNOWN))})

    recording = record(declare, stack="test", project="hpc", first_preview=True)
    with pytest.raises(UnknownValueError, match=r"ConfigMap/here/second: .*data.key.* during an update.*\./hpc up"):
        waves(recording)


def test_a_secret_value_outside_a_secret_is_refused() -> None:
    """A value of the stack's secrets in another kind is written to no file."""
    recording = record(
        lambda: config_map("plain", {"key": pulumi.Output.secret("invented")}),
        stack="test",
        project="hpc",
        first_preview=True,
    )
    with pytest.raises(UnknownValueError, match=r"ConfigMap/here/plain: data.* has a secret value"):
        waves(recording)
