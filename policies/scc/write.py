"""A pod as it was given, with what an SCC has filled in."""

from collections.abc import Mapping
from typing import Any

from policies.scc.pods import LISTS, Capabilities, Container, Pod, Seccomp, SELinux
from policies.scc.reading import Object


def written(manifest: Object, pod: Pod, annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return a new manifest with the fields of `pod` and more annotations.

    Only what changes is copied; the rest is shared with `manifest`, which stays as it is.
    """
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    full = {**spec, "securityContext": _pod(spec.get("securityContext") or {}, pod)}
    for group in LISTS:
        changed = [container for container in pod.containers if container.group == group]
        if changed:
            originals = spec[group]
            full[group] = [_whole(originals[container.index] or {}, container) for container in changed]
    return {
        **manifest,
        "metadata": {**metadata, "annotations": {**pod.annotations, **annotations}},
        "spec": full,
    }


def _whole(original: Object, container: Container) -> dict[str, Any]:
    declared = original.get("securityContext")
    security = _container(declared or {}, container)
    unchanged = {key: value for key, value in original.items() if key != "securityContext"}
    # a container without a security context keeps none when there is nothing to say
    return unchanged if declared is None and not security else {**unchanged, "securityContext": security}


def _pod(security: Object, pod: Pod) -> dict[str, Any]:
    return _set(
        security,
        fsGroup=pod.fs_group,
        supplementalGroups=None if pod.groups is None else [*pod.groups],
        seLinuxOptions=_selinux(pod.selinux),
        seccompProfile=_seccomp(pod.seccomp),
    )


def _container(security: Object, container: Container) -> dict[str, Any]:
    return _set(
        security,
        runAsUser=container.user,
        runAsNonRoot=container.non_root,
        capabilities=_capabilities(container.capabilities),
        readOnlyRootFilesystem=container.read_only,
        seccompProfile=_seccomp(container.seccomp),
        allowPrivilegeEscalation=container.escalation,
    )


def _set(security: Object, **values: object) -> dict[str, Any]:
    """Return `security` with these values and without nulls, as the API server writes it."""
    return {key: value for key, value in {**security, **values}.items() if value is not None}


def _selinux(options: SELinux | None) -> dict[str, str] | None:
    return None if options is None else {key: value for key, value in options._asdict().items() if value}


def _seccomp(profile: Seccomp | None) -> dict[str, str] | None:
    if profile is None:
        return None
    return {"type": profile.type, **({} if profile.file is None else {"localhostProfile": profile.file})}


def _capabilities(capabilities: Capabilities | None) -> dict[str, list[str]] | None:
    if capabilities is None:
        return None
    return {key: [*names] for key, names in capabilities._asdict().items() if names}
