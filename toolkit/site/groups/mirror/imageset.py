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
        operators = ", ".join(f"operator {package.name} ({package.channel})" for package in site.content.packages)
        yield Open(
            f"copies of OpenShift {site.release} itself{' and of ' if operators else ''}{operators}",
            "copy them by the release's own tools for restricted networks; oc-mirror v2 is for 4.13 and later",
        )
        return
    packages = [package for package in site.content.packages if package.catalogue in _CATALOGUES]
    for package in site.content.packages:
        if package not in packages:
            yield Open(
                f"the image of catalogue {package.catalogue}, which has package {package.name}",
                "add the catalogue to imageset.yaml yourself: oc get catalogsource -n openshift-marketplace",
            )
    if mirror.platform is None:
        yield Open("which releases of OpenShift to copy", "set site.mirror.platform, or copy none")
    content = {
        **({"platform": _platform(mirror.platform)} if mirror.platform else {}),
        **({"operators": list(_operators(site.release, packages))} if packages else {}),
        **({"additionalImages": [{"name": copy.image.pulled} for copy in copies.all]} if copies.all else {}),
    }
    if content:
        kind = kinds.IMAGE_SET_CONFIGURATION
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "mirror": content}
        text = yaml.safe_dump(body, sort_keys=False, width=120)
        yield File(PATH, _NOTE.format(registry=mirror.registry) + text, sources=("R-2.1-5",))


def _platform(platform: PlatformMirror) -> dict[str, Any]:
    channel = {"name": platform.channel, "minVersion": platform.first, "maxVersion": platform.last}
    return {"channels": [{key: value for key, value in channel.items() if value}]}


def _operators(release: str, packages: list[Package]) -> Iterator[dict[str, Any]]:
    for catalogue, image in _CATALOGUES.items():
        ours = sorted({(package.name, package.channel) for package in packages if package.catalogue == catalogue})
        if ours:
            names = dict.fromkeys(name for name, _ in ours)
            yield {
                "catalog": f"{image}:v{release}",
                "packages": [
                    {"name": name, "channels": [{"name": channel} for package, channel in ours if package == name]}
                    for name in names
                ],
            }
