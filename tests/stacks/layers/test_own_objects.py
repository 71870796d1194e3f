"""Objects of a stack's own, from manifests."""

from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from stacks.environment import build, placeholder_accounts
from stacks.layers import own_objects
from stacks.loading import settings
from stacks.settings.layers import PlatformLayer, TenantsFile, TenantsLayer, on
from stacks.settings.origins import SettingsError
from tests.support.recorded import ROOT, before, component, environment, of_kind, only_object
from tests.support.stack_settings import changed, expect_message
from toolkit.render import manifests
from toolkit.render.recorder import Registration

_WIDGETS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.kit.example.com}
spec: {group: kit.example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: []}
"""
_WIDGET = """\
apiVersion: kit.example.com/v1
kind: Widget
metadata: {name: w, namespace: adas}
spec: {since: 2026-11-28, camelCase: 1}
"""
_CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: %s
data: {a: "1"}
"""


def recorded(root: Path, stack: str = "dev", **files: str) -> tuple[Registration, ...]:
    """Return what a stack declares with these files in the folder `own`; a name has __ for its slash."""
    wanted = settings.parse(changed(stack, objects=["own"]), "test")
    _write(root, files)
    return component(lambda: build(wanted, placeholder_accounts(wanted, "-"), root))


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / "own" / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_they_are_declared_as_they_are_written(tmp_path: Path) -> None:
    """Each document of each file, in subfolders, too, is one object with the fields of its manifest."""
    found = recorded(tmp_path, one=_CONFIG % "adas", team__two=f"---\n{_WIDGETS}---\n{_WIDGET}---\n")
    config = only_object(found, "ConfigMap", "settings")
    assert (config.name, config.type) == ("ConfigMap/adas/settings", "kubernetes:core/v1:ConfigMap")
    assert config.inputs["data"] == {"a": "1"}
    widget = only_object(found, "Widget")
    assert widget.type == "kubernetes:kit.example.com/v1:Widget"
    assert widget.inputs["metadata"] == {"name": "w", "namespace": "adas"}
    assert widget.inputs["spec"] == {"since": "2026-11-28", "camelCase": 1}
    assert "kubernetes:kit.example.com/v1beta1:Widget" in widget.aliases


def test_their_order(tmp_path: Path) -> None:
    """They come after operators, their tenant's namespace and definitions of kinds, and before the tenant's jobs."""
    found = recorded(tmp_path, all=f"{_WIDGET}---\n{_WIDGETS}")
    known = {item.urn: item for item in found}
    widget = only_object(found, "Widget")
    earlier = {(item.type.rpartition(":")[2], item.name) for item in before(widget, known)}
    assert ("CustomResourceDefinition", "CustomResourceDefinition/widgets.kit.example.com") in earlier
    assert {kind for kind, _ in earlier} >= {"Subscription", "SpecialResource"}
    assert ("Namespace", "adas-namespace") in earlier
    jobs = [item for item in of_kind(found, "MPIJob") if item.inputs["metadata"]["namespace"] == "adas"]
    assert jobs
    assert all(widget in [*before(job, known)] for job in jobs)


def test_what_others_are_in_is_protected_in_production(tmp_path: Path) -> None:
    """With `protect`, a definition of a kind cannot be deleted by an update; a ConfigMap can."""
    found = recorded(tmp_path, "prod", all=f"{_WIDGETS}---\n{_CONFIG % 'elsewhere'}")
    assert only_object(found, "CustomResourceDefinition", "widgets.kit.example.com").protect
    assert not only_object(found, "ConfigMap", "settings").protect


def test_an_object_that_the_stack_declares_is_refused(tmp_path: Path) -> None:
    """A manifest of an object that the program declares itself ends it, with the manifest's place and the remedy."""
    quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: gpus, namespace: adas}\n"
    with pytest.raises(SettingsError) as caught:
        recorded(tmp_path, one=f"{_CONFIG % 'adas'}---\n{quota}")
    expect_message(
        str(caught.value),
        "own/one.yaml:8:1: ResourceQuota/adas/gpus is an object that the stack declares itself; … extra",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n", "own/a.yaml:3:1: ConfigMap a has no namespace"),
        (_WIDGETS + "---\n" + _WIDGET.replace(", namespace: adas", ""), "own/a.yaml:8:11: Widget w has no namespace"),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}\n",
            "own/a.yaml:3:32: Namespace a is an object of the cluster; remove its namespace",
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\nstringData: {password: x}\n",
            "own/a.yaml:4:13: Secret a has its values in plain text; keep them out of files",
        ),
        ("kind: ConfigMap\nmetadata: {}\n", "own/a.yaml:1:1: apiVersion and metadata.name missing … an object needs"),
        ("- a\n", "own/a.yaml:1:1: is no object; write apiVersion, kind and metadata"),
        ("apiVersion: v1\nkind: List\nitems: []\n", "own/a.yaml:2:7: List is a list; write each of its items"),
        (_WIDGET + "status: {}\n", "own/a.yaml:5:9: Widget w: status is the server's; remove it"),
        (_WIDGET + "data: {1: a}\n", "own/a.yaml:5:7: a key that is no text; quote it"),
        (_WIDGET + "---\n" + _WIDGET, "own/a.yaml:6:1: Widget/adas/w is in own/a.yaml:1:1, too; remove one"),
        (_WIDGET + "spec: {}\n", "own/a.yaml:5:1: spec is given twice; remove one"),
    ],
)
def test_wrong_manifests_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    """What is wrong with a manifest is said with file, line, column and remedy."""
    _write(tmp_path, {"a": text})
    _expect_refusal(tmp_path, "own", expected)


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("own", "own has no .yaml or .yml file; write one, or remove the folder"), ("../x", "../x is outside of")],
)
def test_wrong_folders_are_refused(tmp_path: Path, folder: str, expected: str) -> None:
    """A folder without manifests, and one outside of the project's, is refused."""
    _expect_refusal(tmp_path, folder, expected)


def test_a_wrong_folder_has_its_place_in_the_settings(tmp_path: Path) -> None:
    """A folder without manifests is located where the settings name it."""
    data = yaml.safe_dump({**settings.whole("dev", ROOT).data, "objects": ["nope"]})
    (tmp_path / "Pulumi.x.yaml").write_text(f"config:\n  hpc:platform:\n{indent(data, '    ')}")
    line = next(number for number, text in enumerate(data.splitlines(), start=3) if "nope" in text)
    wanted = settings.load("x", tmp_path)
    with pytest.raises(SettingsError) as caught:
        build(wanted, placeholder_accounts(wanted, "-"), tmp_path)
    expect_message(str(caught.value), f"Pulumi.x.yaml:{line}:7: objects[0]: nope has no .yaml … write one")


def test_tenants_in_layers_have_their_own() -> None:
    """The file of tenants names its own folders; the platform's are not theirs."""
    content: dict[str, Any] = {**changed("dev"), "layer": "platform", "objects": ["platform"]}
    theirs = {name: content.pop(name) for name in ("tenants", "builds", "stages", "suite") if name in content}
    theirs.pop("suite", None)
    platform = PlatformLayer.model_validate(content)
    own = TenantsFile.model_validate({**theirs, "platform": "dev", "objects": ["own"]})
    assert on(platform, own, ()).objects == ("own",)


def test_what_the_platform_declares_is_no_object_of_its_tenants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest of tenants for an object that the stack of their platform declares is refused with its place."""
    both = "apiVersion: v1\nkind: Namespace\nmetadata: {name: openshift-nfd}\n"
    _write(tmp_path, {"both": both, "new": _CONFIG % "a"})
    tenants = settings.load("two-layers-tenants", ROOT).model_copy(update={"objects": ("own",)})
    assert isinstance(tenants, TenantsLayer)
    recorded = environment(tenants.platform)
    monkeypatch.setattr(manifests, "registrations", lambda *_: recorded)
    with pytest.raises(SettingsError) as caught:
        manifests.registrations_of_platform(tenants, tmp_path)
    (problem,) = str(caught.value).splitlines()[1:]
    expect_message(problem, "own/both.yaml:1:1: Namespace/openshift-nfd … the stack of the platform declares; remove")


def _expect_refusal(root: Path, folder: str, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        own_objects.read([folder], root)
    expect_message(str(caught.value), expected)
