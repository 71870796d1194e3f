"""What an SCC fills in where a pod leaves something open, and the manifest with it. What is set is only judged."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from policies.scc.constraints import NON_ROOT
from policies.scc.pods import LISTS, Capabilities, Container, Pod, Seccomp, SELinux
from policies.scc.providers import Provider
from policies.scc.reading import Object
from policies.scc.seccomp import CONTAINER_ANNOTATION, POD_ANNOTATION, chosen, parsed


def filled(pod: Pod, provider: Provider) -> Pod:
    """Return the pod as the SCC completes it, containers included."""
    seccomp, annotations = pod.seccomp, pod.annotations
    profile = chosen(pod, provider.constraint)
    if profile:
        annotations = {**annotations, POD_ANNOTATION: profile}
        seccomp = parsed(profile)
    completed = replace(
        pod,
        annotations=annotations,
        seccomp=seccomp,
        selinux=pod.selinux or provider.selinux,
        fs_group=provider.fs_group[0][0] if pod.fs_group is None and provider.fs_group else pod.fs_group,
        groups=(provider.groups[0][0],) if pod.groups is None and provider.groups else pod.groups,
    )
    return replace(
        completed, containers=tuple(_container(container, completed, provider) for container in pod.containers)
    )


def _container(container: Container, pod: Pod, provider: Provider) -> Container:
    constraint = provider.constraint
    user = container.user
    if user is None and pod.user is None and provider.uids:
        user = provider.uids[0]
    capabilities = _capabilities(container.capabilities, provider)
    annotation = pod.annotations.get(CONTAINER_ANNOTATION + container.name)
    return replace(
        container,
        user=user,
        non_root=_non_root(container, pod, user, provider),
        capabilities=capabilities,
        read_only=True if constraint.read_only and container.read_only is None else container.read_only,
        seccomp=container.seccomp if annotation is None else parsed(annotation),
        escalation=_escalation(container, capabilities, provider),
    )


def _non_root(container: Container, pod: Pod, user: int | None, provider: Provider) -> bool | None:
    if container.non_root is not None or pod.non_root is not None:
        return container.non_root
    effective = pod.user if user is None else user
    non_root = provider.constraint.user_type == NON_ROOT if effective is None else effective > 0
    return True if non_root else None


def _capabilities(declared: Capabilities | None, provider: Provider) -> Capabilities | None:
    """Add and drop what the SCC demands; lists that need no change stay as they are written, others are sorted."""
    added, dropped = ({*names} for names in declared or ((), ()))
    to_add = added | ({*provider.constraint.default_add} - dropped)
    to_drop = dropped | {*provider.constraint.required_drop}
    if to_add == added and to_drop == dropped:
        return declared
    return Capabilities(tuple(sorted(to_add)), tuple(sorted(to_drop)))


def _escalation(container: Container, capabilities: Capabilities | None, provider: Provider) -> bool | None:
    if container.escalation is not None:
        return container.escalation
    default, allowed = provider.constraint.default_escalation, provider.constraint.escalation
    # the API server refuses escalation that is off in such a container, so the SCC's default stays away from it
    needs_it = container.privileged or "CAP_SYS_ADMIN" in (capabilities.add if capabilities else ())
    if default is not None and not needs_it:
        return default
    return False if allowed is False else None


def written(manifest: Object, pod: Pod, annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return a new manifest with the fields of `pod` and more annotations.

    Only what changes is copied; the rest is shared with `manifest`, which stays as it is.
    """
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    full = {**spec, "securityContext": _written_pod(spec.get("securityContext") or {}, pod)}
    for group in LISTS:
        changed = [container for container in pod.containers if container.group == group]
        if changed:
            originals = spec[group]
            full[group] = [_whole(originals[container.index] or {}, container) for container in changed]
    return {**manifest, "metadata": {**metadata, "annotations": {**pod.annotations, **annotations}}, "spec": full}


def _whole(original: Object, container: Container) -> dict[str, Any]:
    declared = original.get("securityContext")
    security = _written_container(declared or {}, container)
    unchanged = {key: value for key, value in original.items() if key != "securityContext"}
    # a container without a security context keeps none when there is nothing to say
    return unchanged if declared is None and not security else {**unchanged, "securityContext": security}


def _written_pod(security: Object, pod: Pod) -> dict[str, Any]:
    return _set(
        security,
        fsGroup=pod.fs_group,
        supplementalGroups=None if pod.groups is None else [*pod.groups],
        seLinuxOptions=_selinux(pod.selinux),
        seccompProfile=_seccomp(pod.seccomp),
    )


def _written_container(security: Object, container: Container) -> dict[str, Any]:
    return _set(
        security,
        runAsUser=container.user,
        runAsNonRoot=container.non_root,
        capabilities=_written_capabilities(container.capabilities),
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


def _written_capabilities(capabilities: Capabilities | None) -> dict[str, list[str]] | None:
    if capabilities is None:
        return None
    return {key: [*names] for key, names in capabilities._asdict().items() if names}
