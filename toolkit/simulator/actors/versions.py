"""ClusterServiceVersions: what OLM makes of a package, and of a version in turn, as pure functions."""

from core.apis import kinds
from toolkit.simulator.access.rbac import Rule
from toolkit.simulator.actors import grants
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.package import Bundle, Package
from toolkit.simulator.manifests import manifest, owner_reference, simulated_by

BY = "operator lifecycle manager"
OWNER = "olm.owner"
OWNER_NAMESPACE = "olm.owner.namespace"
INSTALL_MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")


def version(package: Package, name: str, namespace: str, group: str, replaces: str | None) -> Object:
    """Return the ClusterServiceVersion `name` of a package; `group` is the namespace's OperatorGroup."""
    bundle = package.bundle(name)
    labels = {"name": bundle.account}
    container = {
        "name": bundle.account,
        "image": bundle.image,
        "env": [{"name": "WATCH_NAMESPACE", "value": namespace}],
    }
    deployment = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"serviceAccountName": bundle.account, "containers": [container]},
        },
    }
    permissions = {"serviceAccountName": bundle.account, "rules": [rule.manifest() for rule in bundle.rules]}
    owned = [
        {"name": definition.name, "version": definition.kind.version, "kind": definition.kind.kind}
        for definition in bundle.definitions
    ]
    spec = {
        "displayName": package.title,
        "version": "0.0.0",
        "installModes": install_modes(bundle),
        "customresourcedefinitions": {"owned": owned},
        "install": {
            "strategy": "deployment",
            "spec": {
                "deployments": [{"name": bundle.account, "spec": deployment}],
                "clusterPermissions": [permissions],
            },
        },
        **({"replaces": replaces} if replaces else {}),
    }
    marks = {"olm.operatorGroup": group, "olm.operatorNamespace": namespace, **simulated_by(BY)}
    return manifest(kinds.CLUSTER_SERVICE_VERSION, name, namespace, annotations=marks, spec=spec)


def install_modes(bundle: Bundle) -> list[Object]:
    """Return which namespaces an operator can watch, as its version and its catalogue say it."""
    return [{"type": mode, "supported": mode in bundle.modes} for mode in INSTALL_MODES]


def unsupported(csv: Object, targets: list[str]) -> str | None:
    """Return why a version cannot watch these namespaces, as OLM words it; an empty string means all of them."""
    own = csv["metadata"]["namespace"]
    supported = {mode["type"] for mode in csv["spec"].get("installModes") or [] if mode["supported"]}
    if not targets:
        return None  # OLM says so at the subscription
    if len(targets) > 1:
        mode, what = "MultiNamespace", f"{len(targets)} namespaces"
    else:
        modes = {own: ("OwnNamespace", "own namespace"), "": ("AllNamespaces", "all namespaces")}
        mode, what = modes.get(targets[0], ("SingleNamespace", "one namespace"))
    return None if mode in supported else f"{mode} InstallModeType not supported, cannot configure to watch {what}"


def deployment_name(csv: Object) -> str:
    """Return the name of the operator's Deployment."""
    return str(csv["spec"]["install"]["spec"]["deployments"][0]["name"])


def parts(csv: Object) -> grants.Grant:
    """Return what a version needs to run: account, cluster-wide rights, Deployment."""
    meta = csv["metadata"]
    name, namespace = meta["name"], meta["namespace"]
    install = csv["spec"]["install"]["spec"]
    labels = {OWNER: name, OWNER_NAMESPACE: namespace}
    made: grants.Grant = []
    for permission in install["clusterPermissions"]:
        account = permission["serviceAccountName"]
        rules = tuple(
            Rule(
                tuple(rule["apiGroups"]),
                tuple(rule["resources"]),
                tuple(rule["verbs"]),
                tuple(rule.get("resourceNames", ())),
            )
            for rule in permission["rules"]
        )
        made.append(grants.service_account(namespace, account))
        made += grants.cluster_wide(f"{name}-{namespace}", namespace, account, rules)
    for deployment in install["deployments"]:
        body = manifest(
            kinds.DEPLOYMENT, deployment["name"], namespace, annotations=simulated_by(BY), spec=deployment["spec"]
        )
        made.append((kinds.DEPLOYMENT, body))
    for kind, body in made:
        body["metadata"]["labels"] = labels
        if kind.scope == "Namespaced":
            body["metadata"]["ownerReferences"] = [owner_reference(csv, controller=False)]
    return made
