"""Which changes an object cannot take in place (the official provider's rules, provider/pkg/provider/diff.go)."""

from typing import Any

from toolkit.engine.prediction.inputs import ObjectType
from toolkit.engine.prediction.values import Path

_ANY = "*"


def _spec(*fields: str) -> tuple[Path, ...]:
    return tuple(("spec", field) for field in fields)


_VOLUME_SOURCES = _spec(
    *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker"),
    *("gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk"),
    *("portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume"),
)
_CONTAINER_FIELDS = (
    *("args", "command", "env", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "ports", "readinessProbe"),
    *("resources", "securityContext", "stdin", "stdinOnce", "terminationMessagePath", "terminationMessagePolicy"),
    *("tty", "volumeDevices", "volumeMounts", "workingDir"),
)
_POD_FIELDS = _spec(
    *("affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks", "hostAliases"),
    *("hostIPC", "hostNetwork", "hostPID", "hostname", "imagePullSecrets", "nodeName", "nodeSelector", "overhead"),
    *("preemptionPolicy", "priority", "priorityClassName", "readinessGates", "restartPolicy", "runtimeClassName"),
    *("schedulerName", "securityContext", "serviceAccount", "serviceAccountName", "shareProcessNamespace"),
    *("subdomain", "terminationGracePeriodSeconds", "volumes"),
) + tuple(("spec", group, _ANY, field) for group in ("containers", "initContainers") for field in _CONTAINER_FIELDS)
_IDENTITY: tuple[Path, ...] = (("metadata", "name"), ("metadata", "namespace"))

# By group and kind: the rules are the same in every version that is still served.
_RULES: dict[tuple[str, str], tuple[Path, ...]] = {
    ("", "ConfigMap"): (("binaryData",), ("data",)),
    ("", "Secret"): (("type",), ("stringData",), ("data",)),
    ("", "PersistentVolume"): _VOLUME_SOURCES,
    ("", "PersistentVolumeClaim"): _spec("accessModes", "selector", "storageClassName", "volumeName"),
    ("", "Pod"): _POD_FIELDS,
    ("", "ResourceQuota"): _spec("scopes"),
    ("", "Service"): _spec("clusterIP"),
    ("apps", "Deployment"): _spec("selector"),
    ("apps", "DaemonSet"): _spec("selector"),
    ("apps", "StatefulSet"): _spec(
        "podManagementPolicy", "revisionHistoryLimit", "selector", "serviceName", "volumeClaimTemplates"
    ),
    ("batch", "Job"): _spec("completions", "parallelism", "selector", "template"),
    ("rbac.authorization.k8s.io", "RoleBinding"): (("roleRef",),),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (("roleRef",),),
    ("storage.k8s.io", "StorageClass"): (("parameters",), ("provisioner",)),
}
_MUTABLE_WHEN_ASKED: dict[tuple[str, str], tuple[Path, ...]] = {
    ("", "ConfigMap"): (("binaryData",), ("data",)),
    ("", "Secret"): (("stringData",), ("data",)),
}


def rules(kind: ObjectType, *, mutable_kinds: frozenset[str], immutable: bool) -> tuple[Path, ...]:
    """Return the paths whose change replaces an object of this kind.

    `mutable_kinds` are the kinds (ConfigMap, Secret) whose data the provider may change in place; an object that
    says `immutable: true` is replaced all the same. Custom kinds are replaced only under another name or namespace, and
    so are patches.
    """
    if kind.patch:
        return _IDENTITY
    key = (kind.group, kind.kind)
    paths = _RULES.get(key, ())
    if kind.kind in mutable_kinds and not immutable:
        paths = tuple(path for path in paths if path not in _MUTABLE_WHEN_ASKED.get(key, ()))
    return _IDENTITY + paths


def replaces(path: Path, new: Any, paths: tuple[Path, ...]) -> bool:
    """Whether a change at `path` to `new` (None when removed or unknown) touches one of the paths."""
    return any(_touches(path, new, rule) for rule in paths)


def _touches(path: Path, new: Any, rule: Path) -> bool:
    for index, step in enumerate(rule):
        if index >= len(path):
            return _present(new, rule[index:])
        if step != _ANY and step != path[index]:
            return False
    return True


def _present(value: Any, path: Path) -> bool:
    """Whether the new value has something at the rest of the rule's path."""
    for index, step in enumerate(path):
        if step == _ANY:
            return isinstance(value, list) and all(_present(item, path[index + 1 :]) for item in value)
        if not isinstance(value, dict) or step not in value:
            return False
        value = value[step]
    return True
