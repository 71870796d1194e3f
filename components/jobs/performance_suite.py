"""A suite that runs by itself: a CronJob whose pod starts verification jobs again, and waits for each.

A CronJob's template is a Job, so it cannot be an MPIJob or a TrainJob, and it would not repeat one five times: its pod
is a script that creates the jobs. The pod is an ordinary one: restricted SCC, and an account that may create, read and
delete the kinds of jobs that the suite has, in one namespace, and nothing else.
"""

import hashlib
from typing import Any, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, model_validator

from components.base import rights
from components.base.component import Component, CustomObject
from components.base.model import DnsLabel, DnsName, Image, Model
from components.base.security_context import confined, confined_pod
from components.jobs import suite_runs
from components.jobs.cron import Schedule, TimeZone
from components.jobs.suite_runs import SuiteRun
from core.apis import names, suite
from core.apis.kinds import Kind
from core.apis.names import labels
from core.wording import duplicates

NAME_LENGTH = 52
"""Of a CronJob: the controller adds eleven characters to it for the name of a Job."""
POLL_SECONDS = 10
"""Between two queries of a job that runs; a job of the documents takes minutes."""
_MARGIN = 600
"""Seconds of a round beside the waits: pulling the image, creating and deleting."""
_LARGEST = 1 << 20
"""Bytes of a ConfigMap (kubernetes.io/docs/concepts/configuration/configmap)."""
_VERBS = ("create", "delete", "get", "list")
"""What the script does; it polls, and does not watch."""


_START_WITHIN = 3600
"""Seconds after its time in which a round may still start, e.g. after an upgrade; a choice."""


class SuiteChoices(Model):
    """What settings and component have of a suite."""

    name: DnsLabel = Field(
        default="suite", max_length=NAME_LENGTH, description="name of the CronJob; one namespace may have several"
    )
    schedule: Schedule = Field(
        description="when a round starts, in cron format: minute, hour, day of the month, month, day of the week; "
        "e.g. '0 2 * * 6' for Saturdays at 2:00"
    )
    time_zone: TimeZone | None = Field(
        default=None,
        description="time zone of `schedule`, e.g. Europe/Berlin, from Kubernetes 1.27 on; None: that of the "
        "cluster's controller manager, which is UTC on OpenShift",
    )
    repeats: int = Field(
        default=5,
        ge=1,
        le=suite.MOST_REPEATS,
        description="runs of each job in a round, of which the median counts",
    )
    keep: int = Field(
        default=10,
        ge=1,
        le=100,
        description="rounds whose jobs, pods and logs stay on the cluster; the runner deletes older ones. A choice: "
        "with one a week, `./hpc suite` must read them every ten weeks",
    )
    image: Image = Field(
        description="runner image with /bin/sh, and `oc` or `kubectl`, e.g. "
        "registry.redhat.io/openshift4/ose-cli-rhel9:v4.21"
    )
    suspend: bool = Field(default=False, description="start no rounds, and keep everything")


class PerformanceSuiteArgs(SuiteChoices):
    """One suite."""

    namespace: DnsLabel = Field(description="of the tenant whose jobs it starts")
    kind: Kind = Field(description="CronJob in the version of the release")
    runs: tuple[SuiteRun, ...] = Field(min_length=1, description="jobs, in the order in which a repeat runs them")
    pull_secrets: tuple[DnsName, ...] = Field(default=(), description="Secrets with accounts of registries")
    seccomp: bool = Field(
        default=True,
        description="confine system calls to the runtime's default, as SCC restricted-v2 does; one of before OpenShift "
        "4.11 refuses a pod that requests it",
    )
    script: str = Field(exclude=True, min_length=1, repr=False, description="text of stacks/scripts/suite.sh")

    @property
    def round_seconds(self) -> int:
        """How long a round may take: every run as long as it is waited for."""
        return self.repeats * sum(run.seconds + POLL_SECONDS for run in self.runs) + _MARGIN

    @property
    def account(self) -> str:
        """Name of the runner's account, its role and its files."""
        return f"{self.name}-runner"

    @model_validator(mode="after")
    def _fits_into_a_config_map(self) -> Self:
        size = sum(len(text.encode()) for text in files(self).values())
        if size > _LARGEST:
            raise ValueError(
                f"workloads: the manifests of {len(self.runs)} jobs have {size} bytes, and a ConfigMap takes "
                f"{_LARGEST}; name fewer"
            )
        return self

    @model_validator(mode="after")
    def _names_runs_once(self) -> Self:
        if repeated := duplicates(run.job for run in self.runs):
            raise ValueError(f"runs: {repeated[0]} is given twice; name it once")
        return self


def cron_job_spec(args: PerformanceSuiteArgs) -> dict[str, Any]:
    """Return the `spec` of the CronJob."""
    own_labels = labels(args.name, "suite")
    content = files(args)
    digest = hashlib.sha256("".join(content.values()).encode()).hexdigest()
    pod = {
        "restartPolicy": "Never",
        "serviceAccountName": args.account,
        "securityContext": confined_pod(seccomp=args.seccomp),
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [_unmeasured_nodes()]}},
        **({"imagePullSecrets": [{"name": secret} for secret in args.pull_secrets]} if args.pull_secrets else {}),
        "containers": [_container(args)],
        "volumes": [{"name": "suite", "configMap": {"name": args.account}}],
    }
    template = {"metadata": {"labels": own_labels, "annotations": {names.CONFIG_DIGEST: digest}}, "spec": pod}
    return {
        "schedule": args.schedule,
        **({"timeZone": args.time_zone} if args.time_zone else {}),
        # A round that still runs has the GPUs that the next one would measure.
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": _START_WITHIN,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 3,
        "suspend": args.suspend,
        "jobTemplate": {
            "metadata": {"labels": own_labels},
            # A second attempt would be another round.
            "spec": {"backoffLimit": 0, "activeDeadlineSeconds": args.round_seconds, "template": template},
        },
    }


def _unmeasured_nodes() -> dict[str, Any]:
    """Return the preference for nodes that are not measured: whatever else runs on those is part of their figures."""
    labels_of_gpus = (names.GPU_PRESENT, names.GPU_ACCELERATOR)
    without = [{"key": key, "operator": "DoesNotExist"} for key in labels_of_gpus]
    return {"weight": 100, "preference": {"matchExpressions": without}}


def files(args: PerformanceSuiteArgs) -> dict[str, str]:
    """Return the content of the ConfigMap: the script, the plan, and the manifests of the jobs."""
    return {suite.SCRIPT: args.script, **suite_runs.files(args.runs)}


def _container(args: PerformanceSuiteArgs) -> dict[str, Any]:
    variables = {
        "HOME": "/tmp",  # noqa: S108 - of the container; the client caches there what the server serves
        "HPC_FOLDER": suite.FOLDER,
        "HPC_NAMESPACE": args.namespace,
        "HPC_SUITE": args.name,
        suite.REPEATS: str(args.repeats),
        "HPC_KEEP": str(args.keep),
        "HPC_POLL": str(POLL_SECONDS),
        "HPC_RESOURCES": ",".join(suite_runs.resource(kind) for kind in suite_runs.kinds_of(args.runs)),
    }
    amounts = {"cpu": "100m", "memory": "256Mi"}
    return {
        "name": "runner",
        "image": args.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", f"{suite.FOLDER}/{suite.SCRIPT}"],
        "env": [{"name": key, "value": value} for key, value in variables.items()],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": confined(),
        "resources": {"limits": amounts, "requests": amounts},
        "volumeMounts": [{"name": "suite", "mountPath": suite.FOLDER, "readOnly": True}],
    }


class PerformanceSuite(Component):
    """A CronJob with its account, Role, RoleBinding and the ConfigMap of its jobs.

    Outputs: `cron_job`, namespace/name.
    """

    cron_job: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: PerformanceSuiteArgs,
        after: tuple[pulumi.Output[Any], ...] = (),
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("workloads:PerformanceSuite", name, args, opts)
        own_labels = labels(args.name, "suite")
        meta = k8s.meta.v1.ObjectMetaArgs(name=args.account, namespace=args.namespace, labels=own_labels)
        child = self.child(*after)
        account = k8s.core.v1.ServiceAccount(f"{name}-account", metadata=meta, opts=child)
        binding = rights.grant(self, name, meta, _rules(args), account, after=after)
        content = k8s.core.v1.ConfigMap(f"{name}-files", metadata=meta, data=files(args), opts=child)
        cron_job = CustomObject(
            f"{name}-cron-job",
            args.kind,
            k8s.meta.v1.ObjectMetaArgs(name=args.name, namespace=args.namespace, labels=own_labels),
            {"spec": cron_job_spec(args)},
            self.child(*after, binding, content),
        )
        self.outputs(cron_job=cron_job.id.apply(lambda _: f"{args.namespace}/{args.name}"))


def _rules(args: PerformanceSuiteArgs) -> "list[k8s.rbac.v1.PolicyRuleArgs]":
    groups: dict[str, list[str]] = {}
    for kind in suite_runs.kinds_of(args.runs):
        groups.setdefault(kind.group, []).append(kind.plural)
    return rights.rules((group, tuple(resources), _VERBS) for group, resources in groups.items())
