"""The tools of the simulated cluster as data: where each comes from and which version of it will do."""

import hashlib
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path

GO_MODULES = Path(__file__).parent / "go_modules"
COMPILER_FLAGS = "-gcflags=all=-dwarf=false"
"""Without the debugging information that the linker would drop: its share of a build is a tenth of the CPU time."""

KUBERNETES = {"1.34": "1.34.2", "1.35": "1.35.4"}
"""Minor version that a cluster can serve -> what is built; the first serves all releases before its own, too."""
PULUMI = "3.276.0"
ETCD = "3.6.6"
KWOK = "0.7.0"
MPI_OPERATOR = "0.2.3"
MPI_OPERATOR_V2BETA1 = "0.8.2"
KUEUE = "0.19.2"
JOBSET = "0.12.0"
CERT_MANAGER = "1.21.2"
KUBECTL = "0.34.2"
"""Of its module; the command says 1.34.2."""
TRAINER = "2.2.1"
"""The release that this Kueue is built against: later ones merge patches of runtimes otherwise."""
ACTIONLINT = "1.7.12"
NFD = "0.18.3"
GPU_OPERATOR = "25.3.4"
"""Of the last revision that is published as a Go module; what comes later is published as an image alone."""

OPENSHIFT_API = "github.com/openshift/api@v0.0.0-20260810132456-8f52beb625b5"
OPENSHIFT_API_SUM = "h1:/UAIG4kF4dXdamTuN9rL5kSjbQZ9wDES9O2q/wS8Bsk="
_KUEUE_MODULE = "sigs.k8s.io/kueue"
_CERT_MANAGER_MODULE = "github.com/cert-manager/cert-manager"
_CERT_MANAGER_SUM = "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68="
_JOBSET_MODULE = "sigs.k8s.io/jobset"
_TRAINER_MODULE = "github.com/kubeflow/trainer/v2"
_NFD_MODULE = "sigs.k8s.io/node-feature-discovery"
_GPU_OPERATOR_MODULE = "github.com/NVIDIA/gpu-operator"
_GPU_OPERATOR_REVISION = "v0.0.0-20250917190837-d73a0086a6ba"
PROMETHEUS_OPERATOR = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
PROMETHEUS_OPERATOR_SUM = "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s="


@dataclass(frozen=True)
class Binary:
    """A command. `fits` matches, in what `version_arguments` makes it print, the versions that will do.

    `file` is its name on PATH and in the cache; None: its name here, which is another one where several versions are.
    A command that prints no version has none to ask for: then `fits` matches what the linker recorded in the file.
    """

    name: str
    package: str
    version_arguments: tuple[str, ...]
    fits: re.Pattern[str]
    file: str | None = None

    @property
    def command(self) -> str:
        """The name of its file."""
        return self.file or self.name


@dataclass(frozen=True)
class Replacement:
    """Words of one source file of a Go module, and what they are replaced with."""

    module: str
    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Module:
    """One of the Go modules in `go_modules/`; all its binaries come out of one `go build`."""

    name: str
    version: str
    binaries: tuple[Binary, ...]
    variables: tuple[tuple[str, str], ...] = ()
    on_demand: bool = False
    """Whether only what needs it builds it."""
    source: str | None = None
    """Folder whose go.mod it has in common with others; None: one of its own, called as it is."""
    replacements: tuple[Replacement, ...] = ()
    """What fits its sources to later modules than its own go.mod names."""

    @property
    def folder(self) -> Path:
        """Where its go.mod is."""
        return GO_MODULES / (self.source or self.name)

    @property
    def linker_flags(self) -> str:
        """What -ldflags gets: no symbol table, and the version, which only releases' own build scripts set."""
        return " ".join(["-s -w", *(f"-X {name}={value}" for name, value in self.variables)])

    def cache_name(self) -> str:
        """Folder of its binaries in the cache; another one as soon as anything that decides them changes."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.iterdir()):
            digest.update(f"{path.name}\0".encode())
            digest.update(path.read_bytes())
        facts = (
            COMPILER_FLAGS,
            self.linker_flags,
            *(repr(replacement) for replacement in self.replacements),
            *(binary.package for binary in self.binaries),
            platform.system(),
            platform.machine(),
        )
        digest.update("\0".join(facts).encode())
        return f"{self.name}-{self.version}-{digest.hexdigest()[:12]}"


@dataclass(frozen=True)
class Source:
    """Files and folders of one published Go module; `checksum` is its h1 sum, as go.sum would have it."""

    module: str
    checksum: str
    folder: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Data:
    """A folder of data files taken from Go modules, so that none of them is committed here."""

    name: str
    sources: tuple[Source, ...] = field(default=())
    on_demand: bool = False
    """Whether only what needs it fetches it."""

    def cache_name(self) -> str:
        """Folder of the files in the cache."""
        return f"{self.name}-{hashlib.sha256(repr(self.sources).encode()).hexdigest()[:12]}"


_FIRST = next(iter(KUBERNETES))
KUBERNETES_COMMANDS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")


def kubernetes_tool(command: str, minor: str) -> str:
    """Return the name of the tool that is a command of Kubernetes of a minor version."""
    return command if minor == _FIRST else f"{command}-{minor}"


def _kubernetes(minor: str, version: str) -> Module:
    fits = re.compile(rf"^Kubernetes v{re.escape(minor)}\.\d+$", re.M)
    return Module(
        kubernetes_tool("kubernetes", minor),
        version,
        tuple(
            Binary(kubernetes_tool(name, minor), f"k8s.io/kubernetes/cmd/{name}", ("--version",), fits, name)
            for name in KUBERNETES_COMMANDS
        ),
        (
            ("k8s.io/component-base/version.gitVersion", f"v{version}"),
            ("k8s.io/component-base/version.gitMajor", "1"),
            ("k8s.io/component-base/version.gitMinor", minor.partition(".")[2]),
        ),
        on_demand=minor != _FIRST,
    )


def _mpi_operator(name: str, version: str) -> Binary:
    # Only our own main prints just this; upstream's command has other flags and a fixed port.
    return Binary(name, ".", ("--version",), re.compile(rf"\Av{re.escape(version)}\s*\Z"))


def _job_controller(name: str, module: str, version: str, package: str) -> Module:
    # One go.mod for the three: Kueue is built against the other two, and they have most packages in common.
    fits = re.compile(rf"^mod\t{re.escape(module)}\tv{re.escape(version)}\t", re.M)
    return Module(
        name, version, (Binary(name, f"{module}{package}", (), fits),), on_demand=True, source="job-controllers"
    )


MODULES = (
    Module(
        "pulumi",
        PULUMI,
        (
            Binary(
                "pulumi",
                "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
                ("version",),
                # 3.260 is the first that writes packed states without a moment in which there is none; any later one
                # of the same major version reads the same projects and states.
                re.compile(r"^v?3\.(2[6-9]\d|[3-9]\d\d|\d{4,})\.\d+", re.M),
            ),
        ),
        (("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version", PULUMI),),
    ),
    Module(
        "etcd",
        ETCD,
        (Binary("etcd", "go.etcd.io/etcd/server/v3", ("--version",), re.compile(r"^etcd Version: 3\.6\.\d+$", re.M)),),
    ),
    *(_kubernetes(minor, version) for minor, version in KUBERNETES.items()),
    Module(
        "kwok",
        KWOK,
        # Its Stage and Logs kinds are v1alpha1: another minor version may read them otherwise.
        (Binary("kwok", "sigs.k8s.io/kwok/cmd/kwok", ("--version",), re.compile(r"^kwok version v0\.7\.\d+\b", re.M)),),
        # Its own go.mod asks for Kubernetes 1.33, and compiling that as well took four times what kwok itself does.
        source="kubernetes",
        # The constant went with Kubernetes 1.34; what it stands for has stayed.
        replacements=(
            Replacement(
                "sigs.k8s.io/kwok",
                "pkg/utils/informer/informer.go",
                "metav1.InitialEventsListBlueprintAnnotationKey",
                '"kubernetes.io/initial-events-list-blueprint"',
            ),
        ),
    ),
    Module(
        "mpi-operator",
        MPI_OPERATOR,
        (_mpi_operator("mpi-operator", MPI_OPERATOR),),
    ),
    Module(
        "mpi-operator-v2beta1",
        MPI_OPERATOR_V2BETA1,
        (_mpi_operator("mpi-operator-v2beta1", MPI_OPERATOR_V2BETA1),),
    ),
    Module(
        "node-feature-discovery",
        NFD,
        tuple(
            Binary(name, package, ("--version",), re.compile(rf"^{name} v{re.escape(NFD)}$", re.M))
            for name, package in (("nfd-master", f"{_NFD_MODULE}/cmd/nfd-master"), ("nfd-workers", "."))
        ),
        (
            (f"{_NFD_MODULE}/pkg/version.version", f"v{NFD}"),
            # Of the folder that a worker runs in: there it has what is at the root of its node.
            (f"{_NFD_MODULE}/pkg/utils/hostpath.pathPrefix", "./"),
        ),
        replacements=(
            *(
                Replacement(_NFD_MODULE, file, f'"/{path}', f'"{path}')
                for file, path in (
                    ("source/kernel/version.go", "proc/sys/kernel/osrelease"),
                    ("source/kernel/modules.go", "proc/modules"),
                    ("source/kernel/kconfig.go", "proc/config.gz"),
                    ("source/kernel/kconfig.go", "lib/modules/"),
                    ("source/local/local.go", "etc/kubernetes/node-feature-discovery/features.d"),
                    ("source/custom/directory_features.go", "etc/kubernetes/node-feature-discovery/custom.d"),
                )
            ),
            # OpenShift's build has this label as well: by it the GPU Operator chooses its Driver Toolkit.
            Replacement(
                _NFD_MODULE, "source/system/system.go", '"VERSION_ID.minor",', '"VERSION_ID.minor", "OSTREE_VERSION",'
            ),
            # It is asked for the name of one node only, and keeps it.
            Replacement(_NFD_MODULE, "pkg/utils/kubernetes.go", 'if nodeName == "" {', "{"),
            # Its health check would listen on all interfaces.
            Replacement(
                _NFD_MODULE, "pkg/nfd-master/nfd-master.go", '":%d", m.args.Port', '"127.0.0.1:%d", m.args.Port'
            ),
        ),
    ),
    _job_controller("kueue", _KUEUE_MODULE, KUEUE, "/cmd/kueue"),
    _job_controller("jobset", _JOBSET_MODULE, JOBSET, ""),
    _job_controller("trainer", _TRAINER_MODULE, TRAINER, "/cmd/trainer-controller-manager"),
    Module(
        "cert-manager",
        CERT_MANAGER,
        (Binary("cert-manager", ".", ("-version",), re.compile(rf"\Av{re.escape(CERT_MANAGER)}\s*\Z")),),
        ((f"{_CERT_MANAGER_MODULE}/pkg/util.AppVersion", f"v{CERT_MANAGER}"),),
        on_demand=True,
        # Its webhook has no setting for the address, and would be called from other hosts.
        replacements=(
            Replacement(
                _CERT_MANAGER_MODULE,
                "pkg/webhook/server/server.go",
                "\t\tPort: s.ListenAddr,",
                '\t\tHost: "127.0.0.1",\n\t\tPort: s.ListenAddr,',
            ),
        ),
    ),
    Module(
        "gpu-operator",
        GPU_OPERATOR,
        (
            Binary(
                "gpu-operator",
                f"{_GPU_OPERATOR_MODULE}/cmd/gpu-operator",
                (),
                re.compile(rf"^mod\t{re.escape(_GPU_OPERATOR_MODULE)}\t{re.escape(_GPU_OPERATOR_REVISION)}\b", re.M),
            ),
        ),
        ((f"{_GPU_OPERATOR_MODULE}/internal/info.version", f"v{GPU_OPERATOR}"),),
        on_demand=True,
        # It reads what its image and its node have at the root, and so needs one of its own; here that is the folder
        # that it runs in.
        replacements=tuple(
            Replacement(_GPU_OPERATOR_MODULE, file, f'"/{path}', f'"{path}')
            for file, path in (
                ("controllers/state_manager.go", "opt/gpu-operator"),
                ("internal/state/manager.go", "opt/gpu-operator"),
                ("controllers/object_controls.go", "host-etc/os-release"),
            )
        ),
    ),
    Module(
        "kubectl",
        KUBECTL,
        # What a suite's script asks of it has been there for long; any later one will do.
        (Binary("kubectl", ".", ("version", "--client"), re.compile(r"^Client Version: v1\.(2[89]|[3-9]\d)\.", re.M)),),
        (("k8s.io/component-base/version.gitVersion", f"v1{KUBECTL.removeprefix('0')}"),),
        on_demand=True,
        source="kubernetes",
    ),
    Module(
        # No part of the cluster: `make workflows` holds the files of .github to it.
        "actionlint",
        ACTIONLINT,
        (
            Binary(
                "actionlint",
                "github.com/rhysd/actionlint/cmd/actionlint",
                ("-version",),
                re.compile(r"^v?1\.7\.\d+$", re.M),
            ),
        ),
        (("github.com/rhysd/actionlint.version", f"v{ACTIONLINT}"),),
    ),
)


def _manifests(name: str, module: str, checksum: str, folder: str, *, crds: tuple[str, ...]) -> Data:
    """Return what a controller's own installation applies; `crds` are a folder and the files in it."""
    parts = (crds, ("webhook", "manifests.yaml"), ("rbac", "role.yaml"))
    return Data(
        f"{name}-manifests",
        tuple(Source(module, checksum, f"{folder}/{inside}", tuple(files)) for inside, *files in parts),
        on_demand=True,
    )


DATA = (
    Data(
        "openshift-crds",
        (
            Source(
                OPENSHIFT_API,
                OPENSHIFT_API_SUM,
                "payload-manifests/crds",
                (
                    "0000_03_config-operator_01_securitycontextconstraints.crd.yaml",
                    "0000_80_machine-config_01_machineconfigs.crd.yaml",
                    "0000_80_machine-config_01_machineconfigpools-SelfManagedHA.crd.yaml",
                    "0000_80_machine-config_01_kubeletconfigs-Default.crd.yaml",
                ),
            ),
            Source(
                "github.com/operator-framework/api@v0.45.0",
                "h1:hkROwtsLH3oszp4IW+WsXEFSDgveSahHI7DKStOtrUI=",
                "crds",
                (
                    "operators.coreos.com_subscriptions.yaml",
                    "operators.coreos.com_operatorgroups.yaml",
                    "operators.coreos.com_clusterserviceversions.yaml",
                    "operators.coreos.com_installplans.yaml",
                    "operators.coreos.com_catalogsources.yaml",
                ),
            ),
            Source(
                PROMETHEUS_OPERATOR,
                PROMETHEUS_OPERATOR_SUM,
                "example/prometheus-operator-crd",
                ("monitoring.coreos.com_prometheusrules.yaml", "monitoring.coreos.com_servicemonitors.yaml"),
            ),
        ),
    ),
    Data(
        # 1.4 MB in two versions, so no cluster gets it at its start.
        "alertmanager-crds",
        (
            Source(
                PROMETHEUS_OPERATOR,
                PROMETHEUS_OPERATOR_SUM,
                "example/prometheus-operator-crd-full",
                ("monitoring.coreos.com_alertmanagerconfigs.yaml",),
            ),
        ),
    ),
    Data(
        # Of files that `./hpc site` writes for clusters, not of what the program declares.
        "image-mirror-crds",
        (
            Source(
                OPENSHIFT_API,
                OPENSHIFT_API_SUM,
                "payload-manifests/crds",
                (
                    "0000_10_config-operator_01_imagecontentsourcepolicies.crd.yaml",
                    "0000_10_config-operator_01_imagedigestmirrorsets.crd.yaml",
                    "0000_10_config-operator_01_imagetagmirrorsets.crd.yaml",
                ),
            ),
        ),
    ),
    Data(
        # Builds and image streams are served by a second API server, so there are no definitions of them.
        "openshift-openapi",
        (Source(OPENSHIFT_API, OPENSHIFT_API_SUM, "openapi", ("openapi.json",)),),
    ),
    Data(
        # The real definition, by which tests judge our own small one and our jobs.
        "mpi-operator-manifests",
        (
            Source(
                f"github.com/kubeflow/mpi-operator@v{MPI_OPERATOR_V2BETA1}",
                "h1:7PVtV31iX3LSVW0BqRQ64w/NYNfAgP86Bmua2OEi5lg=",
                "deploy/v2beta1",
                ("mpi-operator.yaml",),
            ),
        ),
    ),
    _manifests(
        "kueue",
        f"{_KUEUE_MODULE}@v{KUEUE}",
        "h1:mPNzr37u0nwI7ikST5QQl5gg6EgtYOAvC9ZbTgywdN8=",
        "config/components",
        crds=(
            "crd/bases",
            *(
                f"kueue.x-k8s.io_{plural}.yaml"
                for plural in (
                    *("admissionchecks", "clusterqueues", "cohorts", "localqueues", "multikueueclusters"),
                    *("multikueueconfigs", "provisioningrequestconfigs", "resourceflavors", "topologies"),
                    *("workloadpriorityclasses", "workloads"),
                )
            ),
        ),
    ),
    _manifests(
        "jobset",
        f"{_JOBSET_MODULE}@v{JOBSET}",
        "h1:YYPuV0px8Ongq/RXmJg6V0w2UC67aiR+rCMD06vhQQQ=",
        "config/components",
        crds=("crd/bases", "jobset.x-k8s.io_jobsets.yaml"),
    ),
    _manifests(
        "trainer",
        f"{_TRAINER_MODULE}@v{TRAINER}",
        "h1:GsM80cgxnLnd8j8+lrX/Dpcvw7DYqpxkL0ni4XA/U7Y=",
        "manifests/base",
        crds=(
            "crds",
            *(
                f"trainer.kubeflow.org_{plural}.yaml"
                for plural in ("clustertrainingruntimes", "trainingruntimes", "trainjobs")
            ),
        ),
    ),
    Data(
        "nfd-crds",
        (
            Source(
                f"{_NFD_MODULE}@v{NFD}",
                "h1:q5/qpyxrasI/F6838lflFNGAUszpMNRuFwornPLYdxQ=",
                "deployment/base/nfd-crds",
                ("nfd-api-crds.yaml",),
            ),
        ),
    ),
    Data(
        "cert-manager-manifests",
        (
            Source(
                f"{_CERT_MANAGER_MODULE}@v{CERT_MANAGER}",
                _CERT_MANAGER_SUM,
                "deploy/crds",
                (
                    *(f"acme.cert-manager.io_{plural}.yaml" for plural in ("challenges", "orders")),
                    *(
                        f"cert-manager.io_{plural}.yaml"
                        for plural in ("certificaterequests", "certificates", "clusterissuers", "issuers")
                    ),
                ),
            ),
        ),
        on_demand=True,
    ),
    Data(
        # Templates of Helm.
        "cert-manager-chart",
        (
            Source(
                f"{_CERT_MANAGER_MODULE}@v{CERT_MANAGER}",
                _CERT_MANAGER_SUM,
                "deploy/charts/cert-manager/templates",
                (
                    *(f"{prefix}rbac.yaml" for prefix in ("", "cainjector-", "webhook-")),
                    *(f"webhook-{kind}-webhook.yaml" for kind in ("mutating", "validating")),
                ),
            ),
        ),
        on_demand=True,
    ),
    Data(
        # What its image has at /opt/gpu-operator, and its bundle for OLM.
        "gpu-operator-files",
        tuple(
            Source(
                f"{_GPU_OPERATOR_MODULE}@{_GPU_OPERATOR_REVISION}",
                "h1:LoeqwWjR0h2WRyHXmyYCPVwM/dAdKKxjE8LzyyeuqHI=",
                folder,
                files,
            )
            for folder, files in (
                (".", ("assets", "manifests")),
                (
                    "bundle/manifests",
                    (
                        "gpu-operator-certified.clusterserviceversion.yaml",
                        "nvidia.com_clusterpolicies.yaml",
                        "nvidia.com_nvidiadrivers.yaml",
                    ),
                ),
            )
        ),
        on_demand=True,
    ),
    Data(
        "kwok-crds",
        (
            Source(
                f"sigs.k8s.io/kwok@v{KWOK}",
                "h1:+eGsNOIPapjsSzeZlOEcwbpyEVa2Vqlcafa0qIjaKV4=",
                "kustomize/crd/bases",
                ("kwok.x-k8s.io_logs.yaml",),
            ),
        ),
    ),
)

MODULE_OF = {binary.name: (module, binary) for module in MODULES for binary in module.binaries}
DATA_OF = {data.name: data for data in DATA}
MPI_OPERATORS = {"v1alpha2": "mpi-operator", "v2beta1": "mpi-operator-v2beta1"}
"""Generation of MPIJob -> the tool that is its operator."""
NAMES = (*MODULE_OF, *DATA_OF)
JOB_CONTROLLERS = {
    **{name: (name, f"{name}-manifests") for name in ("kueue", "jobset", "trainer")},
    "cert_manager": ("cert-manager", "cert-manager-manifests", "cert-manager-chart"),
}
"""Controller of jobs, or what it needs, that a stack may install -> its tools."""
GPU_OPERATOR_TOOLS = ("gpu-operator", "gpu-operator-files")
USUAL = tuple(name for name in NAMES if not (DATA_OF[name] if name in DATA_OF else MODULE_OF[name][0]).on_demand)
"""Tools that are built by default."""
