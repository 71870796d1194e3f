"""What a Spectrum Scale driver makes of a volume's handle: pure functions."""

import json
from collections.abc import Iterable

from core.apis import names as platform
from policies.views import volumes
from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import Object

SHORT, LONG = (3, 4), (3, 4, 7)
"""Parts between semicolons that a driver of 2.0 reads, and one of 2.5 and later."""


def annotations(clusters: Iterable[str], parts: Iterable[int], local: str | None) -> dict[str, str]:
    """Return the annotation of the driver's pods from which the simulated kubelet reads what they were started with.

    `local` is the cluster whose file systems volumes are made on when a StorageClass names none.
    """
    document = {"clusters": sorted(clusters), "parts": list(parts), "local": local}
    return {names.SCALE_CLUSTERS: json.dumps(document, sort_keys=True)}


def started_with(pod: Object) -> Object | None:
    """Return what a driver's pod was started with, None where no annotation says so."""
    text = pods.annotations(pod).get(names.SCALE_CLUSTERS)
    document: Object | None = json.loads(text) if text else None
    return document


def trouble(source: Object, pod: Object) -> str | None:
    """Return why the driver's `pod` does not mount a volume with this CSI `source`; None if it does.

    File systems are known to the GUI of their cluster alone: the UID must have its form, and is taken for one of them.
    """
    driver = started_with(pod)
    if source.get("driver") != platform.SCALE_CSI_DRIVER or driver is None:
        return None
    text = str(source.get("volumeHandle"))
    handle = volumes.parse(text)
    faults = list(handle.faults)
    if text.count(";") + 1 not in driver["parts"]:
        faults.append(f"has {text.count(';') + 1} parts, which this version of the driver does not read")
    if faults:
        return f"rpc error: code = Internal desc = invalid volume id {text}: {faults[0]}"
    if handle.cluster not in driver["clusters"]:
        clusters = ", ".join(driver["clusters"])
        return (
            f"rpc error: code = Internal desc = unable to find cluster [{handle.cluster}] details in custom resource,"
            f" which has {clusters}"
        )
    return None
