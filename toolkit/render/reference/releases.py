"""docs/reference/releases.md: the releases of OpenShift, and versions of operators for each."""

from collections.abc import Iterable
from pathlib import Path

from stacks.gpu_drivers import gpu_drivers
from stacks.releases import RELEASES, Release
from stacks.transitions import State, of_product
from toolkit.render.reference import markdown, tables

FILE = tables.ROOT / "docs" / "reference" / "releases.md"
_HEADS = (
    "release",
    "Kubernetes",
    "supported until",
    "extended until",
    "SCCs in a simulated cluster",
    "Kubernetes in a simulated cluster",
    "PCI classes that NFD labels by itself",
    "notes",
)
_NONE = ""


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    return {FILE: _page()}


def _page() -> str:
    drivers = gpu_drivers()
    packages = {operator.name: operator.package for release in RELEASES.values() for operator in release.operators}
    heads = ("release", *(f"{name} (`{package}`)" if package else name for name, package in packages.items()))
    return f"""# Releases

A stack's setting `release` names one of these. Each release is a file in `stacks/releases`, with sources, from which
`make docs` generates this page ([how to add one](../../CONTRIBUTING.md#an-openshift-release)). From 60 days before the
support of a stack's release ends, tests warn and the scheduled `make dates` fails; historical releases are exempt.

{markdown.table(_HEADS, map(_row, RELEASES.values()))}

Extended support is Red Hat's extended update support (EUS), term 1, and counts as support. A simulated cluster serves
the Kubernetes version of its release if this project builds it, otherwise a later version that several releases share,
because each takes minutes to build ([simulated cluster](simulated-cluster.md)). [Between
today's releases](../guide/upgrade.md#between-todays-releases) describes an upgrade step by step.

Node Feature Discovery (NFD) labels nodes by the vendors of their PCI devices of some classes: Ethernet (0200), GPUs
(03), accelerators (12). On releases whose NFD can be configured, stacks add InfiniBand (0207); on 4.4 nothing may
select nodes by ports in InfiniBand mode.

## Operator versions

The vendors' lists, by major and minor version. Settings name a version by `channel` or `starting_csv` of a package. A
version that is listed only for other releases is refused. A version that is listed for none is used, and every update
warns of it, as it does of one whose vendor has ended it. Steps between versions are in
[stacks/transitions](../../stacks/transitions) ([upgrade](../guide/upgrade.md#between-todays-releases)). `allow`
accepts a version or a driver that is not listed, with a reason that every review shows:

```yaml
allow:
  - what: gpu.driver.version  # as the message has it
    value: "535.129.03"
    reason: approved by the vendor, case 1234
```

{markdown.table(heads, (_versions(release, packages) for release in RELEASES.values() if release.operators))}

## Drivers of the GPU Operator

A `gpu.driver.version` that NVIDIA does not list for the operator's version is refused, unless that version lists others
of a branch that is still supported: {" and ".join(map(str, drivers.active.branches))} ({drivers.active.source}).
The operator's version is that of its channel; a channel such as `stable` names none. The lists are in
[gpu_drivers.yaml](../../stacks/gpu_drivers.yaml), with their source.

Pools whose drivers differ need GPU Operator {drivers.by_pool.since} or later, and with {drivers.by_pool.since} a new
cluster: one whose ClusterPolicy has brought the driver goes to the version after it first ({drivers.by_pool.source}).

{markdown.table(("GPU Operator", "drivers"), ((name, ", ".join(listed)) for name, listed in drivers.operators.items()))}
"""


def _row(release: Release) -> tuple[str, ...]:
    support, reason, labels = release.support, release.historical, release.node_feature_labels
    notes = ((f"historical: {reason}",) if reason else ()) + release.notes
    return (
        f"[{release.name}](../../stacks/releases/{release.name}.yaml)",
        release.kubernetes,
        str(support.until) if support else "not known",
        str(support.extended_until) if support and support.extended_until else _NONE,
        release.simulated_as or "not simulated",
        release.simulated_kubernetes or _NONE,
        ", ".join(labels.pci_classes) if labels else _NONE,
        "; ".join(notes),
    )


def _versions(release: Release, operators: Iterable[str]) -> tuple[str, ...]:
    listed = {
        operator.name: ", ".join(_with_state(operator.name, version) for version in operator.versions)
        for operator in release.operators
    }
    return (release.name, *(listed.get(name, _NONE) for name in operators))


def _with_state(product: str, version: str) -> str:
    """Return a version with the state that its vendor names, where that is not full support."""
    component = of_product(product)
    state = component.state(version) if component else None
    return version if state in (None, State.SUPPORTED) else f"{version} ({state})"
