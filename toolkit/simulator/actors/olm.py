"""Operator Lifecycle Manager: from a Subscription to an installed operator, in the order of the field.

Subscription -> InstallPlan (waits for approval when Manual) -> CRDs, ClusterServiceVersion -> account, rights and
Deployment -> the version is Succeeded when that Deployment is available. The operator itself is simulated by its pod.
"""

import hashlib
import logging

from core.apis import kinds
from core.apis.kinds import Kind
from toolkit.simulator import pods
from toolkit.simulator.actors import catalogue, versions
from toolkit.simulator.actors.api import ApiError, Object, now, stated
from toolkit.simulator.actors.catalogue import NotInCatalogueError
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.packages import packages
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.manifests import manifest, owner_reference

log = logging.getLogger(__name__)

_LATEST, _AVAILABLE = "AtLatestKnown", "UpgradeAvailable"
ORPHANS = ("", "cluster-wide rights")
"""Key under which rights whose version is gone are looked for."""


class Olm:
    """Works on one namespace at a time, at every change in it."""

    def __init__(self, runtime: Runtime) -> None:
        self._api = runtime.identity("olm")
        self._loop = Loop("olm", self._reconcile)
        self._subscriptions = self._watch(kinds.SUBSCRIPTION)
        self._plans = self._watch(kinds.INSTALL_PLAN)
        self._versions = self._watch(kinds.CLUSTER_SERVICE_VERSION)
        self._groups = self._watch(kinds.OPERATOR_GROUP)
        self._deployments = self._watch(kinds.DEPLOYMENT)
        self._sources = Informer(self._api, kinds.CATALOG_SOURCE, lambda *_: self._wake(), listed=self._wake)

    def start(self) -> None:
        """Start."""
        watched = (self._subscriptions, self._plans, self._versions, self._groups, self._deployments)
        for cache in (*watched, self._sources):
            cache.start()
        self._loop.start()
        self._loop.add(ORPHANS)

    def _watch(self, kind: Kind) -> Informer:
        return Informer(self._api, kind, self._changed, listed=self._wake)

    def _wake(self) -> None:
        for obj in (*self._subscriptions.items(), *self._versions.items(), *self._groups.items()):
            self._loop.add((obj["metadata"]["namespace"], ""))
        self._loop.add(ORPHANS)

    def _changed(self, key: Key, _old: Object | None, obj: Object | None) -> None:
        self._loop.add((key[0], ""))
        if obj is None:
            self._loop.add(ORPHANS)

    def _reconcile(self, key: Key) -> float | None:
        others = (self._versions, self._groups, self._plans, self._deployments, self._sources)
        if not all(cache.synced for cache in others):
            return None  # the last list to come wakes it
        if key == ORPHANS:
            self._remove_orphans()
            return None
        groups = self._in(self._groups, key[0])
        for group in groups:
            self._show_targets(group)
        for subscription in self._in(self._subscriptions, key[0]):
            self._advance(subscription, groups)
        for version in self._in(self._versions, key[0]):
            self._install(version, groups)
        return None

    def _in(self, cache: Informer, namespace: str) -> list[Object]:
        return [obj for obj in cache.items() if obj["metadata"]["namespace"] == namespace and not pods.deleting(obj)]

    def _advance(self, subscription: Object, groups: list[Object]) -> None:
        """Take a Subscription one step on: resolve, plan, and install once the plan is approved.

        Its states are OLM's: UpgradeAvailable while what is installed has a replacement and no plan, UpgradePending
        while `currentCSV` is not installed, AtLatestKnown.
        """
        status = subscription.get("status") or {}
        installed = status.get("installedCSV")
        try:
            if len(groups) != 1:
                raise NotInCatalogueError(f"the namespace has {len(groups)} OperatorGroups; it needs exactly one")
            target = self._next(subscription["spec"], installed)
        except NotInCatalogueError as error:
            self._fail(subscription, str(error))
            return
        if target is None:
            self._set_status(subscription, state=_LATEST, currentCSV=installed)
            return
        if installed and status.get("currentCSV") != target and status.get("state") != _AVAILABLE:
            self._set_status(subscription, state=_AVAILABLE)
            return  # its own change wakes it
        plan = self._plan(subscription, target)
        pending = {"name": plan["metadata"]["name"], "namespace": plan["metadata"]["namespace"]}
        reference = {"apiVersion": plan["apiVersion"], "kind": plan["kind"], **pending}
        self._set_status(subscription, state="UpgradePending", currentCSV=target, installPlanRef=reference)
        if not plan["spec"]["approved"]:
            self._phase(plan, "RequiresApproval")
            return
        self._execute(subscription, plan, target, groups[0]["metadata"]["name"], installed)

    def _next(self, spec: Object, installed: str | None) -> str | None:
        source = self._sources.get(spec["source"], spec["sourceNamespace"])
        return catalogue.next_version(spec, installed, catalogue.content(source) if source else "")

    def _plan(self, subscription: Object, target: str) -> Object:
        meta = subscription["metadata"]
        name = f"install-{hashlib.sha256((meta['uid'] + target).encode()).hexdigest()[:5]}"
        if (plan := self._plans.get(name, meta["namespace"])) is not None:
            return plan
        approval = subscription["spec"].get("installPlanApproval", "Automatic")
        spec = {
            "approval": approval,
            "approved": approval == "Automatic",
            "clusterServiceVersionNames": [target],
        }
        owners = [owner_reference(subscription, controller=False)]
        body = manifest(kinds.INSTALL_PLAN, name, meta["namespace"], owners=owners, spec=spec)
        try:
            return self._api.create(kinds.INSTALL_PLAN, body, meta["namespace"])
        except ApiError as error:
            if error.conflict:
                return self._api.get(kinds.INSTALL_PLAN, name, meta["namespace"])
            raise

    def _execute(self, subscription: Object, plan: Object, target: str, group: str, installed: str | None) -> None:
        namespace = subscription["metadata"]["namespace"]
        package = packages()[subscription["spec"]["name"]]
        self._phase(plan, "Installing")
        for definition in package.bundle(target).definitions:
            self._api.apply(kinds.CUSTOM_RESOURCE_DEFINITION, definition.manifest())
        self._api.apply(
            kinds.CLUSTER_SERVICE_VERSION, versions.version(package, target, namespace, group, replaces=installed)
        )
        self._phase(plan, "Complete")
        if installed:
            self._api.delete(kinds.CLUSTER_SERVICE_VERSION, installed, namespace)
        latest = self._next(subscription["spec"], target) is None
        self._set_status(subscription, state=_LATEST if latest else _AVAILABLE, currentCSV=target, installedCSV=target)

    def _install(self, version: Object, groups: list[Object]) -> None:
        """Give a version what it needs to run, once, and follow its Deployment."""
        meta = version["metadata"]
        targets = [target for group in groups for target in group_targets(group)]
        if (why := versions.unsupported(version, targets)) is not None:
            self._version(version, phase="Failed", reason="UnsupportedOperatorGroup", message=why)
            return
        name = versions.deployment_name(version)
        deployment = self._deployments.get(name, meta["namespace"])
        owned = deployment is not None and pods.labels(deployment).get(versions.OWNER) == meta["name"]
        if not owned:
            self._version(version, phase="Installing", reason="InstallWaiting", message="")
            for kind, body in versions.parts(version):
                self._api.apply(kind, body)
            return
        available = deployment is not None and pods.condition(deployment, "Available")
        phase, reason = ("Succeeded", "InstallSucceeded") if available else ("Installing", "InstallWaiting")
        self._version(version, phase=phase, reason=reason, message="")

    def _version(self, version: Object, **status: str) -> None:
        done = self._api.set_status(kinds.CLUSTER_SERVICE_VERSION, version, status, lastUpdateTime=now())
        if done is not version:
            meta = version["metadata"]
            log.info("%s/%s is %s", meta["namespace"], meta["name"], status["phase"])

    def _set_status(self, subscription: Object, **status: object) -> None:
        conditions = stated(subscription, {"ResolutionFailed": ("False", "", "")})
        self._api.set_status(kinds.SUBSCRIPTION, subscription, {**status, "conditions": conditions}, lastUpdated=now())

    def _fail(self, subscription: Object, why: str) -> None:
        conditions = stated(subscription, {"ResolutionFailed": ("True", "ConstraintsNotSatisfiable", why)})
        self._api.set_status(kinds.SUBSCRIPTION, subscription, {"conditions": conditions}, lastUpdated=now())

    def _phase(self, plan: Object, phase: str) -> None:
        if pods.phase(plan) != "Complete":
            self._api.set_status(kinds.INSTALL_PLAN, plan, {"phase": phase, "catalogSources": []})

    def _show_targets(self, group: Object) -> None:
        self._api.set_status(kinds.OPERATOR_GROUP, group, {"namespaces": group_targets(group)}, lastUpdated=now())

    def _remove_orphans(self) -> None:
        """Delete cluster-wide rights of versions that are gone, as their namespaces cannot take them along."""
        for kind in (kinds.CLUSTER_ROLE_BINDING, kinds.CLUSTER_ROLE):
            for obj in self._api.list(kind, selector=versions.OWNER)["items"]:
                marks = pods.labels(obj)
                if self._versions.get(marks[versions.OWNER], marks[versions.OWNER_NAMESPACE]) is None:
                    self._api.delete(kind, obj["metadata"]["name"])


def group_targets(group: Object) -> list[str]:
    """Return the namespaces of an OperatorGroup; an empty string means all."""
    return list((group.get("spec") or {}).get("targetNamespaces") or [""])
