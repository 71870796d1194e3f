"""ImageSetConfiguration of oc-mirror v2: OpenShift, operators and images in one list.

Fields are those of openshift/oc-mirror, v2/internal/pkg/api/v2alpha1/type_config.go.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from core.apis import kinds
from stacks.settings.site.content import Package
from stacks.settings.site.mirror import MirrorSettings, PlatformMirror
from stacks.site.site import Site
from toolkit.site.groups.mirror.copies import Copies
from toolkit.site.output import File, Open

PATH = "mirror/imageset.yaml"
_CATALOGUES = {
    "redhat-operators": "registry.redhat.io/redhat/redhat-operator-index",
    "certified-operators": "registry.redhat.io/redhat/certified-operator-index",
    "community-operators": "registry.redhat.io/redhat/community-operator-index",
    "redhat-marketplace": "registry.redhat.io/redhat/redhat-marketplace-index",
}
"""OpenShift's own catalogues -> their images, with a tag for each release (OpenShift, Disconnected environments)."""
_NOTE = """\
# Run where the internet and the mirror are reached:
# oc mirror -c imageset.yaml --workspace file://workspace docker://{registry} --v2
# It also writes what makes the cluster use the copies of OpenShift and of operators, in workspace's cluster-resources.
"""


def files(site: Site, mirror: MirrorSettings, copies: Copies) -> Iterator[File | Open]:
    """Yield the configuration; nothing for a release that cannot use what oc-mirror v2 writes for it."""
    if site.image_mirrors != "digests-and-tags":
        operators = ", ".join(f"operator {each.name} ({each.channel})" for each in site.content.packages)
        yield Open(
            f"copies of OpenShift {site.release} itself{' and of ' if operators else ''}{operators}",
            "copy them by the release's own tools for restricted networks; oc-mirror v2 is for 4.13 and later",
        )
        return
    packages = [each for each in site.content.packages if each.catalogue in _CATALOGUES]
    for each in site.content.packages:
        if each not in packages:
            yield Open(
                f"the image of catalogue {each.catalogue}, which has package {each.name}",
                "add the catalogue to imageset.yaml yourself: oc get catalogsource -n openshift-marketplace",
            )
    if mirror.platform is None:
        yield Open("which releases of OpenShift to copy", "set site.mirror.platform, or copy none")
    content = {
        **({"platform": _platform(mirror.platform)} if mirror.platform else {}),
        **({"operators": list(_operators(site.release, packages))} if packages else {}),
        **({"additionalImages": [{"name": each.image.pulled} for each in copies.all]} if copies.all else {}),
    }
    if content:
        kind = kinds.IMAGE_SET_CONFIGURATION
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "mirror": content}
        text = yaml.safe_dump(body, sort_keys=False, width=120)
        yield File(PATH, _NOTE.format(registry=mirror.registry) + text, sources=("R-2.1-5",))


def _platform(wanted: PlatformMirror) -> dict[str, Any]:
    channel = {"name": wanted.channel, "minVersion": wanted.first, "maxVersion": wanted.last}
    return {"channels": [{key: value for key, value in channel.items() if value}]}


def _operators(release: str, packages: list[Package]) -> Iterator[dict[str, Any]]:
    for catalogue, image in _CATALOGUES.items():
        ours = sorted({(each.name, each.channel) for each in packages if each.catalogue == catalogue})
        if ours:
            names = dict.fromkeys(name for name, _ in ours)
            yield {
                "catalog": f"{image}:v{release}",
                "packages": [
                    {"name": name, "channels": [{"name": channel} for each, channel in ours if each == name]}
                    for name in names
                ],
            }
