"""The RDMA test of two nodes: one listens, the other lists its devices and measures bandwidth."""

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component, CustomObject
from components.base.model import DnsLabel, DnsName, Image, Model, Seconds
from components.base.scheduling import Toleration
from components.base.security_context import confined
from components.base.timeouts import DEFAULTS
from components.fabric import gid_index
from components.jobs import job_pods, outcome
from components.jobs.job_args import NetworkName
from components.jobs.outcome import Wait
from core.apis import kinds, names
from core.apis.names import LISTENER, NO_HOSTS, labels

PORT = 18515
"""TCP port on which perftest agrees on the connection before it uses RDMA."""

MTUS = "grep -H . /sys/class/net/*/mtu"
"""Prints the MTU of every interface; `ip` is not in every image, and the search for the address needs grep anyway."""


class RdmaPair(Model):
    """One ordered pair of nodes, and the HCA to measure, as settings and the component have them."""

    image: Image = Field(description="image with ib_write_bw, ibstatus and, for InfiniBand, ibhosts")
    client_node: DnsName = Field(description="node that measures")
    server_node: DnsName = Field(description="node that listens")
    hca: str = Field(description="HCA measured on both nodes, e.g. mlx5_1")


class RdmaTestArgs(RdmaPair):
    """One test."""

    namespace: DnsLabel = Field(description="where it runs")
    job_name: DnsLabel = Field(description="name of the job that measures; that of the listener follows from it")
    hcas: tuple[str, ...] = Field(
        default=(), description="all HCAs of a node, for the list of hosts that each sees; InfiniBand only"
    )
    account: DnsName = Field(description="service account of both pods")
    rdma_resources: tuple[str, ...] = Field(min_length=1, description="of which both pods take one each")
    roce: bool = Field(default=False, description="the port is Ethernet: both pods look for their own address on it")
    traffic_class: int | None = Field(
        default=None, ge=0, le=255, description="RoCE: the switches' lossless class; None: the adapter's"
    )
    networks: tuple[NetworkName, ...] = Field(default=(), description="secondary networks that both pods join")
    tolerations: tuple[Toleration, ...] = Field(default=(), description="taints of the nodes, which both pods tolerate")
    pull_secrets: tuple[DnsName, ...] = Field(default=(), description="Secrets with accounts of registries")
    seccomp: bool = Field(default=False, description="confine system calls, as SCC restricted-v2 demands")
    deadline: Seconds = Field(default=300, description="seconds after which the jobs are stopped")
    run: int = Field(default=1, ge=1, description="raise it to run the test again")
    wait: Wait = Field(default=Wait.FINISHED, description="how far an update follows the test")
    timeout: Seconds = Field(default=DEFAULTS.job, description="seconds to follow the job for")


def listener_name(job_name: str) -> str:
    """Return the name of the listening job and of the service in front of it."""
    return f"{job_name}{LISTENER}"


def address(args: RdmaTestArgs) -> tuple[str, ...]:
    """Return the commands that find the pod's own address on the port; none on InfiniBand."""
    return (gid_index.port_index(args.hca),) if args.roce else ()


def bandwidth(args: RdmaTestArgs, server: str | None = None) -> str:
    """Return the command that measures against `server`, or listens.

    On RoCE each end names its own entry of the port's addresses, or they connect over version 1 or not at all.
    """
    options = {"-d": args.hca, "-x": "$index" if args.roce else None, "--tclass": args.traffic_class}
    words = [f"{key} {value}" for key, value in options.items() if value is not None]
    return " ".join(["ib_write_bw", *([server] if server else []), *words])


def listener_script(args: RdmaTestArgs) -> str:
    """Return what the listening pod runs."""
    return ";".join((*address(args), bandwidth(args)))


def client_script(args: RdmaTestArgs) -> str:
    """Return what the measuring pod runs: who it is, what it sees and may lock, and the bandwidth."""
    server = listener_name(args.job_name)
    return "; ".join(
        (
            "whoami",
            "ls -l /dev/infiniband /sys/class/net",
            "ibstatus",
            *((MTUS,) if args.roce else ()),
            *address(args),
            "set -ex",
            # Traced, or a figure alone would not be a limit to who reads the log.
            "ulimit -l",
            # Where umad devices belong to root, as on RHCOS, others cannot read the list; it is not measured by.
            *(f"ibhosts -C {hca} || echo '{hca}: {NO_HOSTS}'" for hca in args.hcas),
            # The name resolves once the listener's pod is ready; the deadline bounds the wait.
            f"until getent hosts {server}; do sleep 1; done",
            bandwidth(args, server),
        )
    )


def job_spec(args: RdmaTestArgs, node: str, script: str) -> dict[str, Any]:
    """Return the `spec` of a Job that runs `script` on `node`."""
    pod = {
        "restartPolicy": "Never",
        "serviceAccountName": args.account,
        "affinity": job_pods.only(node),
        **job_pods.tolerating(args.tolerations),
        **({"imagePullSecrets": [{"name": secret} for secret in args.pull_secrets]} if args.pull_secrets else {}),
        **({"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}} if args.seccomp else {}),
        "containers": [
            {
                "name": "mofed-test",
                "image": args.image,
                "imagePullPolicy": "IfNotPresent",
                "command": ["/bin/sh", "-c"],
                "args": [script],
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "securityContext": confined(names.IPC_LOCK),
                "resources": {"limits": dict.fromkeys(args.rdma_resources, 1)},
            }
        ],
    }
    return {
        "backoffLimit": 0,
        "activeDeadlineSeconds": args.deadline,
        "template": job_pods.template(pod, job_pods.networks(args.networks)),
    }


def service_spec(args: RdmaTestArgs) -> dict[str, Any]:
    """Return the `spec` of the headless Service in front of the listener."""
    return {
        "clusterIP": "None",
        "selector": {names.JOB_NAME: listener_name(args.job_name)},
        "ports": [{"name": "perftest", "port": PORT}],
    }


class RdmaTest(Component):
    """A listening Job with a headless Service, and the measuring Job.

    The paper starts the listener manually on the other node. Outputs: `finished`, the measuring job's name,
    which raises when the job has failed.
    """

    finished: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: RdmaTestArgs,
        read_log: outcome.ReadLog,
        after: Sequence[pulumi.Output[Any]] = (),
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("workloads:RdmaTest", name, args, opts)
        listener = listener_name(args.job_name)
        own_labels = labels(args.job_name, "workload")
        replacement = {"replacement_trigger": args.run, "delete_before_replace": True, "replace_on_changes": ["spec"]}
        service = CustomObject(
            f"{name}-service",
            kinds.SERVICE,
            k8s.meta.v1.ObjectMetaArgs(name=listener, namespace=args.namespace, labels=own_labels),
            {"spec": service_spec(args)},
            self.child(*after),
        )
        server = CustomObject(
            listener_name(name),
            kinds.JOB,
            k8s.meta.v1.ObjectMetaArgs(
                name=listener,
                namespace=args.namespace,
                labels=own_labels,
                annotations=outcome.job_annotations(kinds.JOB, Wait.STARTED, timeout=args.timeout),
            ),
            {"spec": job_spec(args, args.server_node, listener_script(args))},
            self.child(*after, service, **replacement),
        )
        job = CustomObject(
            f"{name}-job",
            kinds.JOB,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.job_name,
                namespace=args.namespace,
                labels=own_labels,
                annotations=outcome.job_annotations(kinds.JOB, args.wait, timeout=args.timeout),
            ),
            {"spec": job_spec(args, args.client_node, client_script(args))},
            self.child(*after, server, **replacement),
        )
        self.outputs(finished=outcome.gate(args.namespace, args.job_name, job.status, read_log))
