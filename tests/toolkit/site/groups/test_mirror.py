"""What is copied to a mirror, and how nodes find it there."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
import yaml

from core.apis import kinds
from policies.manifests.objects import objects
from policies.views.images import parse
from stacks.loading import settings
from stacks.settings.platform import Settings
from stacks.settings.site import SiteSettings
from stacks.settings.site.mirror import Content, ImageName, Package
from stacks.site import assembly as site
from tests.conformance.definitions import real
from tests.conformance.schema import expect_conformity
from tests.support.recorded import OURS, ROOT, environment
from tests.support.stack_settings import changed, expect_refusal
from tests.toolkit.site.groups.oc_mirror import ImageSetConfiguration
from toolkit.cli.site.files import content_of
from toolkit.render.manifests import manifests
from toolkit.site.groups.mirror import GROUP
from toolkit.site.output import Open, written

REGISTRY = "mirror.example.com:8443/ocp"
DIGEST = f"sha256:{'6a' * 32}"
KINDS = {
    "idms": kinds.IMAGE_DIGEST_MIRROR_SET,
    "itms": kinds.IMAGE_TAG_MIRROR_SET,
    "icsp": kinds.IMAGE_CONTENT_SOURCE_POLICY,
}


def mirrored(stack: str, **more: Any) -> Settings:
    """Return the settings of a stack with a mirror."""
    site_settings = SiteSettings.model_validate({"mirror": {"registry": REGISTRY, **more}})
    return settings.load(stack, ROOT).model_copy(update={"site": site_settings})


def rendered(wanted: Settings, pulled: Content) -> tuple[dict[str, str], tuple[Open, ...]]:
    """Return the texts of a stack's files by name, and what is open."""
    files, missing = written(GROUP, site.of(wanted, "test", pulled))
    return {file.path.removeprefix("mirror/"): file.text for file in files}, missing


def images(*references: str) -> Content:
    """Return a content of images."""
    return Content(images=tuple(map(ImageName.parse, references)))


def pairs(mapping: str) -> dict[str, str]:
    """Return the lines of a mapping, source -> copy, as `oc image mirror -f` reads them."""
    lines = [line for line in mapping.splitlines() if line.partition("#")[0].strip()]
    assert not any(character.isspace() for line in lines for character in line)
    found = [(source, copy) for source, copy in (line.split("=") for line in lines)]
    assert len({copy for _, copy in found}) == len(found), "oc refuses a copy that is given twice"
    return dict(found)


def sources(text: str) -> dict[str, list[str]]:
    """Return the repositories of an object for nodes, each with its mirrors."""
    (entries,) = yaml.safe_load(text)["spec"].values()
    return {entry["source"]: entry["mirrors"] for entry in entries}


def of_containers(found: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the images of all containers, in full."""
    named = {each.text("image") for one in found for obj in objects(one) for each in obj.containers} - {""}
    return {f"{(image := parse(name)).home}{'@' if image.digest else ':'}{image.digest or image.tag}" for name in named}


@pytest.mark.parametrize("stack", OURS)
def test_every_image_of_a_stack_is_in_one_list(stack: str) -> None:
    """Each image that the manifests name is copied once, and found by tag or by digest, or it is the cluster's own."""
    wanted = mirrored(stack)
    found = manifests(environment(stack))
    files, missing = rendered(wanted, content_of(wanted, found))
    copied = pairs(files["mapping.txt"])
    own = {each for each in of_containers(found) if each.startswith(f"{wanted.version.registry}/")}
    assert of_containers(found) - own <= copied.keys()
    assert not own & copied.keys()
    for build in (each for each in found if "dockerfile" in each.get("spec", {}).get("source", {})):
        base = re.findall(r"(?m)^FROM (\S+)", build["spec"]["source"]["dockerfile"])[0]
        assert any(base in source for source in copied), base
    if wanted.version.image_mirrors == "digests-and-tags":
        found_by = [sources(files[name]) for name in ("idms.yaml", "itms.yaml") if name in files]
        repositories = [repository for each in found_by for repository in each]
        assert sorted(repositories) == sorted({ImageName.parse(source).repository for source in copied})
        extra = ImageSetConfiguration.model_validate(yaml.safe_load(files["imageset.yaml"])).mirror.additionalImages
        assert [image.name for image in extra] == list(copied)
    else:
        assert [each for each in missing if all(source in each.what for source in copied)]


@pytest.mark.parametrize("stack", OURS)
def test_operators_are_copied_from_their_catalogues(stack: str) -> None:
    """Each package that a subscription names is in the image set with its channel, or there is no image set."""
    wanted = mirrored(stack)
    pulled = content_of(wanted, manifests(environment(stack)))
    files, _ = rendered(wanted, pulled)
    if "imageset.yaml" in files:
        read = ImageSetConfiguration.model_validate(yaml.safe_load(files["imageset.yaml"]))
        listed = {
            (package.name, channel.name)
            for catalogue in read.mirror.operators
            for package in catalogue.packages
            for channel in package.channels
        }
        assert listed == {(package.name, package.channel) for package in pulled.packages}
        assert all(each.catalog.endswith(f":v{wanted.release}") for each in read.mirror.operators)


@pytest.mark.parametrize(("stack", "names"), [("redpaper-today", {"idms", "itms"}), ("redpaper-4.4", {"icsp"})])
@pytest.mark.parametrize("closed", [False, True])
def test_objects_have_the_shape_of_their_definitions(stack: str, names: set[str], closed: bool) -> None:
    """What nodes are told matches OpenShift's own definitions, by digest and, where the release can, by tag."""
    both = images(f"quay.io/a/b@{DIGEST}", "quay.io/a/c:1")
    files, missing = rendered(mirrored(stack, closed=closed), both)
    written_here = {name.removesuffix(".yaml") for name in files} & KINDS.keys()
    assert written_here == names
    for name in names:
        manifest = yaml.safe_load(files[f"{name}.yaml"])
        assert (manifest["apiVersion"], manifest["kind"]) == (KINDS[name].api_version, KINDS[name].kind)
        assert ("NeverContactSource" in files[f"{name}.yaml"]) == (closed and name != "icsp")
        expect_conformity(manifest, definitions=real(KINDS[name]))
    assert sources(files["icsp.yaml" if "icsp" in names else "idms.yaml"]) == {"quay.io/a/b": [f"{REGISTRY}/a/b"]}
    lost = [each for each in missing if "quay.io/a/c:1" in each.what]
    assert bool(lost) == (names == {"icsp"})
    assert all("digest" in each.what and "name@sha256" in each.remedy for each in lost)


def test_two_images_of_one_copy() -> None:
    """Images whose copies would have one name are copied neither way, and open."""
    both = images("quay.io/a/b:1", "docker.io/a/b:1", "docker.io/a/b:2")
    files, missing = rendered(mirrored("redpaper-today"), both)
    assert pairs(files["mapping.txt"]) == {"docker.io/a/b:2": f"{REGISTRY}/a/b:2"}
    assert [each for each in missing if "docker.io/a/b:1 and quay.io/a/b:1" in each.what]


def test_two_digests_of_one_repository_have_copies_of_their_own() -> None:
    """Copies by digest get tags; an image that is named at the mirror has no copy."""
    other = DIGEST.replace("6a", "7b")
    pulled = images(f"quay.io/a/b@{DIGEST}", f"quay.io/a/b:1@{other}", f"{REGISTRY}/a/c:1")
    files, _ = rendered(mirrored("redpaper-today"), pulled)
    assert list(pairs(files["mapping.txt"])) == [f"quay.io/a/b@{DIGEST}", f"quay.io/a/b@{other}"]
    assert "itms.yaml" not in files


def test_an_image_that_an_operator_completes_is_open_until_it_is_given() -> None:
    """The beginning of a tag is open; an image of `site.mirror.images` that begins so closes it, and is copied."""
    pulled = Content(incomplete=("nvcr.io/nvidia/driver:580",))
    assert [each for each in rendered(mirrored("redpaper-today"), pulled)[1] if "driver:580" in each.what]
    given = "nvcr.io/nvidia/driver:580-rhcos4.20"
    files, missing = rendered(mirrored("redpaper-today", images=[given]), pulled)
    assert given in pairs(files["mapping.txt"])
    assert not [each for each in missing if "driver:580" in each.what]


@pytest.mark.parametrize("stack", ["redpaper-4.4", "supermicro-3.11"])
def test_what_older_releases_copy_otherwise_is_open(stack: str) -> None:
    """Without an image set OpenShift itself and packages of operators are open, and a platform is refused."""
    wanted = settings.load(stack, ROOT)
    pulled = Content(packages=(Package(name="nfd", channel="4.4", catalogue="redhat-operators"),))
    files, missing = rendered(wanted, pulled)
    assert "imageset.yaml" not in files
    assert [each for each in missing if f"OpenShift {wanted.release} itself and of operator nfd" in each.what]
    given = {"registry": REGISTRY, "platform": {"channel": f"stable-{wanted.release}"}}
    expect_refusal(changed(stack, site__mirror=given), f"site.mirror.platform: release {wanted.release} … leave it out")


def test_a_package_of_another_catalogue_is_open() -> None:
    """Only OpenShift's own catalogues have known images."""
    pulled = Content(packages=(Package(name="it", channel="stable", catalogue="ours"),))
    _, missing = rendered(mirrored("redpaper-today"), pulled)
    assert [each for each in missing if "catalogue ours" in each.what and "package it" in each.what]


def test_releases_to_copy() -> None:
    """The platform of the settings is that of the image set."""
    wanted = mirrored("redpaper-today", platform={"channel": "stable-4.20", "first": "4.20.3", "last": "4.20.11"})
    files, _ = rendered(wanted, Content())
    read = ImageSetConfiguration.model_validate(yaml.safe_load(files["imageset.yaml"]))
    (channel,) = read.mirror.platform.channels
    assert (channel.name, channel.minVersion, channel.maxVersion) == ("stable-4.20", "4.20.3", "4.20.11")


@pytest.mark.parametrize(
    ("mirror", "expected"),
    [
        ({"platform": {"channel": "stable-4.19"}}, "channel stable-4.19 … 4.20 … write stable-4.20"),
        ({"platform": {"channel": "stable-4.20", "first": "4.20.10", "last": "4.20.9"}}, "first 4.20.10 … last 4.20.9"),
        ({"images": ["mellanox/it:1"]}, "mellanox/it:1 … registry/organisation/name"),
        ({"images": ["quay.io/a/b"]}, "quay.io/a/b has neither a tag nor a digest"),
    ],
)
def test_what_no_mirror_could_have(mirror: dict[str, Any], expected: str) -> None:
    """A channel of another release, versions in the wrong order, and images not in full are refused."""
    given = {"registry": REGISTRY, **mirror}
    expect_refusal(changed("redpaper-today", site={"mirror": given}), expected)
