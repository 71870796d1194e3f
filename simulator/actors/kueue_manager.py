"""Kueue's manager: lets jobs start when all their pods have room. Simulated, this is not Kueue.

Preemption, cohorts of cohorts, topology, priorities of workloads and gangs of ready pods are not simulated.
"""

from apis import kinds
from apis import names as platform
from apis.kinds import Kind
from apis.logs import SIMULATED
from simulator.actors import ignition, kueue_jobs, kueue_queues, kueue_quota, kueue_workloads, pods, sim_kinds
from simulator.actors.api import ApiError, Object
from simulator.actors.conditions import stated
from simulator.actors.informer import Key, key_of
from simulator.actors.kueue_jobs import FRAMEWORKS, Framework
from simulator.actors.kueue_quota import Assignment, Queue
from simulator.actors.kueue_workloads import Workloads
from simulator.actors.podactor import Operator

KINDS = (kinds.RESOURCE_FLAVOR, kinds.CLUSTER_QUEUE, kinds.LOCAL_QUEUE, sim_kinds.WORKLOAD)


class KueueManager(Operator):
    """Looks at all jobs and queues at once, at every change; what it decided is in the Workloads."""

    _workloads: Workloads
    _frameworks: list[Framework]

    def start(self) -> None:
        """Watch queues, workloads, namespaces, and jobs of the kinds that it was configured with."""
        wanted_frameworks = pods.command(self.pod).partition("--frameworks=")[2].split(",")
        self._frameworks = [FRAMEWORKS[name] for name in wanted_frameworks if name in FRAMEWORKS]
        jobs = (each.kind for each in self._frameworks)
        self.watched = tuple((kind, None) for kind in (kinds.NAMESPACE, *KINDS, *jobs))
        self._workloads = Workloads(self.api, lambda: self.caches[sim_kinds.WORKLOAD])
        super().start()

        def forget(key: Key, _old: Object | None, workload: Object | None) -> None:
            if workload is None:
                self._workloads.forget(key)
                self.wake()

        self.caches[sim_kinds.WORKLOAD].on_change(forget)
        self.say(f"{SIMULATED}: this is not Kueue, its manager is simulated")

    def reconcile(self) -> None:
        """Admit the jobs for which there is room, oldest first."""
        flavors = {one["metadata"]["name"]: one for one in self.there(kinds.RESOURCE_FLAVOR)}
        queues = {one["metadata"]["name"]: one for one in self.there(kinds.CLUSTER_QUEUE)}
        active = {name for name, one in queues.items() if not kueue_queues.missing_flavors(one, flavors)}
        self._show_queues(flavors, queues, active)
        self._workloads.remove_orphans(
            {job["metadata"]["uid"] for each in self._frameworks for job in self.caches[each.kind].items()}
        )
        jobs = [found for each in self._frameworks for found in self._jobs(each)]
        waiting = [(framework, job, workload) for framework, job in jobs if (workload := self._follow(framework, job))]
        usage = self._workloads.usage()
        blocked: set[str] = set()
        for framework, job, workload in sorted(waiting, key=_age):
            name = self._cluster_queue(workload)
            queue = queues.get(name or "")
            why = self._inadmissible(job, workload, queue, active)
            if not why and name in blocked:
                continue
            if not why:
                assert name is not None  # noqa: S101 - it is admissible, so there is a queue
                why = self._admit(framework, job, workload, kueue_queues.sharing(name, queues, active, usage), flavors)
            if why:
                self._workloads.state(workload, {"QuotaReserved": ("False", *why)})
                if queue is not None and queue["spec"].get("queueingStrategy") == "StrictFIFO":
                    blocked.add(name or "")
            else:
                usage = self._workloads.usage()

    def _jobs(self, framework: Framework) -> list[tuple[Framework, Object]]:
        namespaces = {
            one["metadata"]["name"]
            for one in self.there(kinds.NAMESPACE)
            if pods.labels(one).get(platform.KUEUE_MANAGED) == "true"
        }
        return [
            (framework, job)
            for job in self.there(framework.kind)
            if job["metadata"]["namespace"] in namespaces and kueue_jobs.queue_of(job)
        ]

    def _follow(self, framework: Framework, job: Object) -> Object | None:
        """Bring a job's Workload up to date; return it if it waits for room."""
        queue, workload = kueue_jobs.queue_of(job), self._workloads.of(framework, job)
        ended = framework.ended(job)
        if ended:
            if workload is not None and not pods.condition(workload, "Finished"):
                self._workloads.state(workload, {"Finished": ("True", ended, f"Job finished: {ended}")})
            return None
        if workload is None:
            assert queue is not None  # noqa: S101 - others were left out
            workload = self._workloads.make(framework, job, queue)
        if pods.condition(workload, "Admitted"):
            if framework.suspended(job):
                self._start(framework, job, workload)
            return None
        if not framework.suspended(job):  # it was created when nothing held it
            self._patch(framework, job, kueue_jobs.switched(framework, suspend=True))
        return workload

    def _cluster_queue(self, workload: Object) -> str | None:
        namespace = workload["metadata"]["namespace"]
        local = self.caches[kinds.LOCAL_QUEUE].get(workload["spec"]["queueName"], namespace)
        return str(local["spec"]["clusterQueue"]) if local else None

    def _inadmissible(
        self, job: Object, workload: Object, queue: Object | None, active: set[str]
    ) -> tuple[str, str] | None:
        name = self._cluster_queue(workload)
        if name is None:
            return "Inadmissible", f"LocalQueue {workload['spec']['queueName']} doesn't exist"
        if queue is None:
            return "Inadmissible", f"ClusterQueue {name} doesn't exist"
        if name not in active:
            return "Inadmissible", f"ClusterQueue {name} is inactive"
        selector = queue["spec"].get("namespaceSelector")
        namespace = self.caches[kinds.NAMESPACE].get(job["metadata"]["namespace"])
        # Without a selector no namespace may use the queue; an empty one is for all.
        if selector is None or namespace is None or not ignition.selected(selector, pods.labels(namespace)):
            return "Pending", "Workload namespace doesn't match ClusterQueue selector"
        return None

    def _admit(
        self,
        framework: Framework,
        job: Object,
        workload: Object,
        sharing: tuple[Queue, list[Queue]],
        flavors: dict[str, Object],
    ) -> tuple[str, str] | None:
        own, others = sharing
        pod_sets = framework.pod_sets(job)
        found = kueue_quota.assign(pod_sets, own, others)
        if not isinstance(found, Assignment):
            return "Pending", found
        assignments = [
            {
                "name": one.name,
                "count": one.count,
                "flavors": dict(found.flavors[one.name]),
                "resourceUsage": {name: kueue_quota.shown(name, amount) for name, amount in one.requests.items()},
            }
            for one in pod_sets
        ]
        message = f"Quota reserved in ClusterQueue {own.name}"
        conditions = {
            "QuotaReserved": ("True", "QuotaReserved", message),
            "Admitted": ("True", "Admitted", f"The workload is admitted by ClusterQueue {own.name}"),
        }
        admitted = {"clusterQueue": own.name, "podSetAssignments": assignments}
        made = self._workloads.state(workload, conditions, admission=admitted)
        self.say(f"{job['metadata']['namespace']}/{job['metadata']['name']}: {message}")
        self._start(framework, job, made, flavors)
        return None

    def _start(
        self, framework: Framework, job: Object, workload: Object, flavors: dict[str, Object] | None = None
    ) -> None:
        known = flavors or {one["metadata"]["name"]: one for one in self.there(kinds.RESOURCE_FLAVOR)}
        chosen = {
            part["name"]: [known[name]["spec"] for name in sorted({*part["flavors"].values()}) if name in known]
            for part in workload["status"]["admission"]["podSetAssignments"]
        }
        self._patch(framework, job, kueue_jobs.started(framework, job, chosen))

    def _patch(self, framework: Framework, job: Object, body: Object) -> None:
        meta = job["metadata"]
        try:
            self.api.patch(framework.kind, meta["name"], body, meta["namespace"])
        except ApiError as error:
            if not error.missing:
                raise

    def _show_queues(self, flavors: dict[str, Object], queues: dict[str, Object], active: set[str]) -> None:
        workloads = self._workloads.items()
        for name, queue in queues.items():
            own = [one for one in workloads if self._holder(one) == name]
            active_condition = kueue_queues.of_cluster(queue, flavors)
            self._show(
                kinds.CLUSTER_QUEUE, queue, active_condition, kueue_queues.amounts_of(queue, own, borrowing=True)
            )
        for local in self.there(kinds.LOCAL_QUEUE):
            space, name = key_of(local)
            own = [one for one in workloads if (key_of(one)[0], one["spec"]["queueName"]) == (space, name)]
            quota = queues.get(local["spec"]["clusterQueue"])
            active_condition = kueue_queues.of_tenant(local, queues, active)
            self._show(kinds.LOCAL_QUEUE, local, active_condition, kueue_queues.amounts_of(quota, own, borrowing=False))

    def _holder(self, workload: Object) -> str | None:
        """Return the ClusterQueue that a Workload was admitted to, before that the one in which it waits."""
        admitted = kueue_workloads.admission(workload)
        return admitted["clusterQueue"] if admitted else self._cluster_queue(workload)

    def _show(self, kind: Kind, queue: Object, active_condition: tuple[str, str, str], amounts: Object) -> None:
        self.api.set_status(kind, queue, {"conditions": stated(queue, {"Active": active_condition}), **amounts})


def _age(waiting: tuple[Framework, Object, Object]) -> tuple[str, str]:
    meta = waiting[1]["metadata"]
    return meta["creationTimestamp"], meta["name"]
