"""The command line of every process of a cluster, with the reason for each flag that is not obvious."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.apis import kinds
from core.files import digest
from toolkit.simulator.access.pki import Pki
from toolkit.simulator.home import Layout
from toolkit.simulator.processes import configurations
from toolkit.simulator.processes.configurations import python
from toolkit.simulator.processes.ports import LOOPBACK
from toolkit.simulator.processes.supervisor import Command
from toolkit.simulator.state import ClusterSpec, PortNumbers, ScaleGui

MEMBER = "hpc-sim"

RBAC_KINDS = (kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING, kinds.ROLE, kinds.ROLE_BINDING)

# A soft limit that a small cluster stays below: collecting more often (GOGC=50) saved 110 MiB in the API server
# and cost the start 1.5 s. Past the limit the collector works harder; nothing fails. With 148 nodes and 600 MiB the API
# server spent a quarter of its time on it.
_GO = {"GOMEMLIMIT": "250MiB"}
_GRACE, _MONITORED, _EVICTION_RATE = 50, 10, 0.1
"""Defaults of kube-controller-manager 1.34: seconds until a node counts as lost, looks meanwhile, nodes a second that
are tainted."""
_API_SERVER_GO = {"GOMEMLIMIT": "900MiB"}


@dataclass(frozen=True)
class Plan:
    """What the command lines are made of."""

    layout: Layout
    pki: Pki
    ports: PortNumbers
    spec: ClusterSpec
    tools: Mapping[str, Path]

    def etcd(self) -> Command:
        """Return etcd, with certificates: on loopback any user of the machine could otherwise read and write it."""
        client, peer = (f"https://{LOOPBACK}:{port}" for port in (self.ports.etcd, self.ports.etcd_peer))
        return Command(
            "etcd",
            [
                self.tools["etcd"],
                f"--name={MEMBER}",
                f"--data-dir={self.layout.etcd}",
                f"--listen-client-urls={client}",
                f"--advertise-client-urls={client}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster={MEMBER}={peer}",
                *self._etcd_tls(""),
                *self._etcd_tls("peer-"),
                # A killed process loses nothing by it, only a machine that loses power does.
                "--unsafe-no-fsync",
                # Raft entries kept in memory; the default of 10,000 is for clusters with slow members.
                "--snapshot-count=1000",
                "--snapshot-catchup-entries=1000",
                "--quota-backend-bytes=1073741824",
                "--log-level=warn",
            ],
            _GO,
            (self.ports.etcd, self.ports.etcd_peer),
        )

    def _etcd_tls(self, prefix: str) -> list[str]:
        return [
            f"--{prefix}cert-file={self.pki.certificate('etcd')}",
            f"--{prefix}key-file={self.pki.key('etcd')}",
            f"--{prefix}trusted-ca-file={self.pki.ca}",
            f"--{prefix}client-cert-auth",
        ]

    def api_server(self) -> Command:
        """Return kube-apiserver: RBAC, default admission (ServiceAccount included), static tokens."""
        return Command(
            "kube-apiserver",
            [
                self.tools["kube-apiserver"],
                f"--etcd-servers=https://{LOOPBACK}:{self.ports.etcd}",
                f"--etcd-cafile={self.pki.ca}",
                f"--etcd-certfile={self.pki.certificate('etcd')}",
                f"--etcd-keyfile={self.pki.key('etcd')}",
                f"--bind-address={LOOPBACK}",
                f"--secure-port={self.ports.api}",
                # It may not advertise loopback and otherwise asks the host's routes; a documentation address will
                # do, because nothing in the cluster is reached through the `kubernetes` service.
                "--advertise-address=192.0.2.1",
                "--endpoint-reconciler-type=none",
                f"--tls-cert-file={self.pki.certificate('server')}",
                f"--tls-private-key-file={self.pki.key('server')}",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={self.pki.key('service-account')}",
                f"--service-account-signing-key-file={self.pki.key('service-account')}",
                f"--token-auth-file={self.pki.tokens}",
                "--authorization-mode=RBAC",
                "--service-cluster-ip-range=172.30.0.0/16",
                *([f"--egress-selector-config-file={self.layout.egress_config}"] if self.spec.job_controllers else []),
                "--allow-privileged=true",
                f"--kubelet-certificate-authority={self.pki.ca}",
                "--kubelet-preferred-address-types=InternalIP",
                # What SCC admission lists again for every pod comes from etcd: a list from the watch cache waits up to
                # 100 ms for etcd's word that the cache is current.
                f"--watch-cache-sizes={','.join(f'{kind.plural}.{kind.group}#0' for kind in RBAC_KINDS)}",
                "--feature-gates=ListFromCacheSnapshot=false",
                "--profiling=false",
            ],
            # It reads tokens at its start only.
            {**_API_SERVER_GO, "HPC_SIM_TOKENS": digest(self.pki.tokens.read_bytes())},
            (self.ports.api,),
        )

    def controller_manager(self) -> Command:
        """Return kube-controller-manager: every controller acts as its own service account."""
        return Command(
            "kube-controller-manager",
            [
                self.tools["kube-controller-manager"],
                f"--kubeconfig={self.layout.identity('kube-controller-manager')}",
                "--leader-elect=false",
                "--secure-port=0",
                "--use-service-account-credentials=true",
                f"--service-account-private-key-file={self.pki.key('service-account')}",
                f"--root-ca-file={self.pki.ca}",
                # A claim that was handled before its volume is otherwise bound only at the next round, 15 s later.
                "--pvclaimbinder-sync-period=1s",
                # With the default of 20 requests a second the controllers' start alone waits for seconds.
                "--kube-api-qps=200",
                "--kube-api-burst=400",
                f"--node-monitor-grace-period={self.spec.node_grace_seconds}s",
                f"--node-monitor-period={max(1, self.spec.node_grace_seconds // _MONITORED)}s",
                # Nodes a second that get the taint by which their pods go. With the default of 0.1 a second node that
                # is lost at the same time follows after 10 s.
                f"--node-eviction-rate={_EVICTION_RATE * _GRACE / self.spec.node_grace_seconds:g}",
                "--profiling=false",
            ],
            _GO,
        )

    def scheduler(self) -> Command:
        """Return kube-scheduler; its settings are a file, see `configurations.scheduler`."""
        identity = self.layout.identity("kube-scheduler")
        return Command(
            "kube-scheduler",
            [
                self.tools["kube-scheduler"],
                f"--config={self.layout.scheduler_config}",
                f"--authentication-kubeconfig={identity}",
                f"--authorization-kubeconfig={identity}",
                "--secure-port=0",
            ],
            _GO,
        )

    def kwok(self) -> Command:
        """Return kwok, which simulates the nodes and takes pods through the project's own stages."""
        address = f"{LOOPBACK}:{self.ports.kubelet}"
        files = configurations.stages()
        return Command(
            "kwok",
            [
                self.tools["kwok"],
                f"--kubeconfig={self.layout.identity('kubelet')}",
                "--manage-all-nodes",
                f"--node-ip={LOOPBACK}",
                f"--node-port={self.ports.kubelet}",
                f"--server-address={address}",
                f"--tls-cert-file={self.pki.certificate('kubelet')}",
                f"--tls-private-key-file={self.pki.key('kubelet')}",
                "--enable-crds=Logs",
                # It renews four times as often; a kubelet's lease is for 40 s of the 50 after which it is missed.
                f"--node-lease-duration-seconds={self.spec.node_grace_seconds * 4 // 5}",
                "--cidr=10.128.0.1/14",
                "--v=WARN",
                *(f"--config={stage}" for stage in files),
            ],
            {**_GO, "HPC_SIM_REVISION": digest(*(stage.read_bytes() for stage in files))},
            (self.ports.kubelet,),
        )

    def scc_admission(self) -> Command:
        """Return the webhook that simulates OpenShift's SCC admission."""
        return self._tls_server(
            "scc-admission",
            "admission",
            self.ports.admission,
            f"--api-port={self.ports.api}",
            f"--ca={self.pki.ca}",
            f"--kubeconfig={self.layout.identity('scc-admission')}",
        )

    def object_store(self) -> Command:
        """Return the object store."""
        arguments = [
            "toolkit.simulator.object_store",
            f"--port={self.ports.objects}",
            f"--root={self.layout.objects.absolute()}",
            f"--credentials={self.layout.object_credentials.absolute()}",
        ]
        return python("object-store", arguments, (self.ports.objects,))

    def discover(self) -> Command:
        """Return Spectrum Discover."""
        return self._tls_server(
            "discover",
            "discover.service",
            self.ports.discover,
            f"--catalogue={self.layout.catalogue.absolute()}",
            f"--account={self.layout.catalogue_account.absolute()}",
        )

    def scale_gui(self, gui: ScaleGui) -> Command:
        """Return the GUI of Storage Scale; the object store's folder is the home of its caches."""
        return self._tls_server(
            "scale-gui",
            "scale_management.service",
            self.ports.scale_gui,
            f"--state={self.layout.scale_state.absolute()}",
            f"--account={self.layout.scale_account.absolute()}",
            f"--objects={self.layout.objects.absolute()}",
            f"--cluster-id={gui.cluster_id}",
            *(f"--file-system={name}" for name in gui.file_systems),
        )

    def _tls_server(self, name: str, module: str, port: int, *arguments: str) -> Command:
        """Return a server of this program; on loopback all have the certificate of the API server."""
        tls = (f"--certificate={self.pki.certificate('server')}", f"--key={self.pki.key('server')}")
        return python(name, [f"toolkit.simulator.{module}", f"--port={port}", *tls, *arguments], (port,))

    def actors(self) -> Command:
        """Return the process of the actors; other settings make the next `up` restart it."""
        arguments = ["toolkit.simulator.actors", f"--home={self.layout.home.absolute()}"]
        return python("actors", arguments, (), self.spec.model_dump_json().encode())
