"""A static volume and its claim name each other and agree, and the data outlives both."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM
from core.apis.quantity import amount
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown, brief, show
from policies.rule import Parameters, Rule, Severity
from policies.views.volumes import Pairs, pairs

_CLASS: Path = ("spec", "storageClassName")
_MODES: Path = ("spec", "accessModes")
_POLICY: Path = ("spec", "persistentVolumeReclaimPolicy")
_CAPACITY: Path = ("spec", "capacity", "storage")
_REQUEST: Path = ("spec", "resources", "requests", "storage")
_MOST = 32
_CHOSEN = "pv.kubernetes.io/bound-by-controller"
"""Annotation of a claim whose volume the cluster has chosen, and not the user."""
_SHOWN = 5
_SEARCHED = 1000
_LABELS: Path = ("spec", "selector", "matchLabels")
_COMPARED: tuple[Path, ...] = (_CLASS, _MODES, _CAPACITY, ("spec", "volumeMode"), ("spec", "claimRef"))


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    if subject.kind == PERSISTENT_VOLUME.kind:
        if not subject.partial:
            yield from _volume(subject, inventory)
    else:
        yield from _claim(subject, inventory)


def _volume(volume: Obj, inventory: Inventory) -> Iterator[Violation]:
    policy = volume.read(*_POLICY)
    # A volume that is created manually and does not set it has Retain.
    if policy not in (None, "Retain") and not isinstance(policy, Unknown):
        yield volume.violation(
            f"persistentVolumeReclaimPolicy {brief(policy)} deletes its data with the claim", *_POLICY
        ).with_remedy("Write persistentVolumeReclaimPolicy: Retain")
    if not volume.mapping("spec", "claimRef"):
        return
    place: Path = ("spec", "claimRef")
    name, namespace = (volume.read(*place, key) for key in ("name", "namespace"))
    if not name or not namespace:
        yield volume.violation("claimRef needs the claim's name and namespace", *place)
    elif isinstance(name, str) and isinstance(namespace, str):
        claim = inventory.get(PERSISTENT_VOLUME_CLAIM, name, namespace) or inventory.get(PERSISTENT_VOLUME_CLAIM, name)
        if claim is None:
            yield volume.unlinked(f"claimRef names {namespace}/{name}, which is not among the objects", *place)
        elif (other := claim.text("spec", "volumeName")) and other != volume.name:
            yield volume.violation(f"claimRef names {namespace}/{name}, which wants volume {other}", *place)


def _claim(claim: Obj, inventory: Inventory) -> Iterator[Violation]:
    bindings = inventory.once(pairs)
    volume_name = claim.text("spec", "volumeName")
    if volume_name:
        volume = inventory.get(PERSISTENT_VOLUME, volume_name)
        if volume is None and claim.text("metadata", "annotations", _CHOSEN) == "yes":
            # On a cluster: the class has made the volume, and the controller has written its name here.
            return
        if volume is None:
            yield claim.unlinked(
                f"volumeName names {volume_name}, which is not among the objects", "spec", "volumeName"
            )
    elif claim.hidden("spec", "volumeName"):
        claim.read("spec", "volumeName")
        return
    else:
        volumes = bindings.by_claim.get((claim.namespace, claim.name), ())
        volume = volumes[0] if volumes else None
        if volume is None:
            yield from _unpaired(claim, bindings)
            return
    if claim.read(*_CLASS) is None:
        yield claim.violation(
            "has no storageClassName, so that the default class may provision another volume", *_CLASS
        )
    if volume is not None:
        yield from _pair(claim, volume)


def _unpaired(claim: Obj, bindings: Pairs) -> Iterator[Violation]:
    labels = claim.mapping(*_LABELS)
    if claim.mapping("spec", "selector"):
        message = f"is bound by its selector alone ({_show(labels)}): it may get any volume with such labels"
        yield claim.violation(message, "spec", "selector")
        volumes = bindings.by_class.get(claim.text(*_CLASS), ())
        if len(volumes) <= _SEARCHED and not any(
            labels.items() <= volume.mapping("metadata", "labels").items() for volume in volumes
        ):
            yield claim.unlinked("its selector matches no volume of its storage class", "spec", "selector")
    elif claim.read(*_CLASS) == "":
        yield claim.violation("has neither volumeName nor class: it may get any volume without class", *_CLASS)
    elif claim.read(*_CLASS) is None and bindings.by_class.get(""):
        message = "has neither volumeName nor storageClassName: it may get any volume without class, or a new one"
        yield claim.violation(message, *_CLASS)
    elif (name := claim.text(*_CLASS)) and bindings.by_class.get(name):
        yield claim.violation(f"has no volumeName: it may get any volume of class {name}", *_CLASS)


def _pair(claim: Obj, volume: Obj) -> Iterator[Violation]:
    for place in (*_COMPARED, ("metadata", "labels")):
        if volume.hidden(*place):
            yield claim.unverified(
                f"{show(place)} of its volume {volume.name} is unknown until the update", "spec", "volumeName"
            )
    claim_reference = volume.mapping("spec", "claimRef")
    if claim_reference and not volume.hidden("spec", "claimRef"):
        reference = (claim.namespace or claim_reference.get("namespace"), claim.name)
        if (claim_reference.get("namespace"), claim_reference.get("name")) != reference:
            holder = f"{brief(claim_reference.get('namespace'))}/{brief(claim_reference.get('name'))}"
            yield claim.violation(f"its volume {volume.name} is reserved for {holder}", "spec", "volumeName")
    claim_class, volume_class = claim.read(*_CLASS), volume.read(*_CLASS) or ""
    if claim_class is not None and claim_class != volume_class and not _hidden(claim, volume, _CLASS):
        yield claim.violation(
            f"storageClassName {brief(claim_class)} is not {brief(volume_class)}, which its volume {volume.name} has",
            *_CLASS,
        )
    modes, offered = claim.entries(*_MODES)[:_MOST], volume.entries(*_MODES)[:_MOST]
    missing = [brief(mode) for mode in modes if mode not in offered]
    if missing and not _hidden(claim, volume, _MODES):
        yield claim.violation(f"accessModes {', '.join(missing)} are not among those of {volume.name}", *_MODES)
    requested, size = amount(claim.read(*_REQUEST)), amount(volume.read(*_CAPACITY))
    if requested is not None and size is not None and requested > size:
        yield claim.violation(
            f"requests {claim.read(*_REQUEST)}, and its volume {volume.name} has {volume.read(*_CAPACITY)}", *_REQUEST
        )
    claim_mode, volume_mode = (obj.read("spec", "volumeMode") or "Filesystem" for obj in (claim, volume))
    if claim_mode != volume_mode and not _hidden(claim, volume, ("spec", "volumeMode")):
        message = f"volumeMode {brief(claim_mode)} is not {brief(volume_mode)}, which its volume {volume.name} has"
        yield claim.violation(message, "spec", "volumeMode")
    labels = volume.mapping("metadata", "labels")
    missing_labels = {key: value for key, value in claim.mapping(*_LABELS).items() if labels.get(key) != value}
    if missing_labels and not _hidden(claim, volume, ("metadata", "labels")):
        message = f"its selector wants {_show(missing_labels)}, which its volume {volume.name} lacks"
        yield claim.violation(message, *_LABELS)


def _show(labels: Mapping[Any, Any]) -> str:
    return ", ".join(sorted(f"{brief(key)}={brief(value)}".replace("'", "") for key, value in labels.items())[:_SHOWN])


def _hidden(claim: Obj, volume: Obj, place: Path) -> bool:
    return claim.hidden(*place) or volume.hidden(*place)


VOLUME_CLAIM_PAIR = Rule(
    name="volume-claim-pair",
    what="A static volume and its claim name each other (claimRef or volumeName) and agree in class, access modes, "
    "size, mode and labels; the volume keeps its data (Retain, its default).",
    why="A selector may bind any volume that matches, so a tenant may get another's data or an empty disk. A pair that "
    "does not agree stays Pending (VolumeMismatch). With Delete, the data is deleted with the claim.",
    remedy="Set claimRef in the volume and volumeName in the claim, with the same storageClassName and accessModes",
    source="E-36, R-4.2-4, R-4.2-7, platform-facts 4.3 rule 26",
    severity=Severity.MANDATORY,
    examine=_examine,
    kinds=(PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM),
    links=True,
)
