"""The commands of the simulated cluster as data: what each is built from, and which version of it will do."""

import re

from toolkit.engine.tools.records import Binary, Module, Replacement
from toolkit.engine.tools.versions import (
    ACTIONLINT,
    CERT_MANAGER,
    CERT_MANAGER_MODULE,
    DRA_DRIVER,
    DRA_DRIVER_MODULE,
    ETCD,
    GPU_OPERATOR,
    GPU_OPERATOR_MODULE,
    GPU_OPERATOR_REVISION,
    JOBSET,
    JOBSET_MODULE,
    KUBECTL,
    KUBERNETES,
    KUEUE,
    KUEUE_MODULE,
    KWOK,
    MPI_OPERATOR,
    MPI_OPERATOR_V2BETA1,
    NFD,
    NFD_MODULE,
    OLM,
    OLM_MODULE,
    PULUMI,
    TRAINER,
    TRAINER_MODULE,
)

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
            for name, package in (("nfd-master", f"{NFD_MODULE}/cmd/nfd-master"), ("nfd-workers", "."))
        ),
        (
            (f"{NFD_MODULE}/pkg/version.version", f"v{NFD}"),
            # Of the folder that a worker runs in: there it has what is at the root of its node.
            (f"{NFD_MODULE}/pkg/utils/hostpath.pathPrefix", "./"),
        ),
        replacements=(
            *(
                Replacement(NFD_MODULE, file, f'"/{path}', f'"{path}')
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
                NFD_MODULE, "source/system/system.go", '"VERSION_ID.minor",', '"VERSION_ID.minor", "OSTREE_VERSION",'
            ),
            # It is asked for the name of one node only, and keeps it.
            Replacement(NFD_MODULE, "pkg/utils/kubernetes.go", 'if nodeName == "" {', "{"),
            # Its health check would listen on all interfaces.
            Replacement(
                NFD_MODULE, "pkg/nfd-master/nfd-master.go", '":%d", m.args.Port', '"127.0.0.1:%d", m.args.Port'
            ),
        ),
    ),
    Module(
        "operator-lifecycle-manager",
        OLM,
        (
            *(
                Binary(
                    name,
                    f"{OLM_MODULE}/cmd/{name}",
                    ("--version",),
                    re.compile(rf"^OLM version: {re.escape(OLM)}$", re.M),
                )
                for name in ("olm", "catalog")
            ),
            Binary(
                "operator-catalogues",
                ".",
                ("-version",),
                re.compile(rf"^operator-catalogues {re.escape(OLM)}$", re.M),
            ),
        ),
        ((f"{OLM_MODULE}/pkg/version.OLMVersion", OLM),),
        replacements=(
            # Health and metrics would be on all interfaces, and both operators would have the same port.
            Replacement(OLM_MODULE, "pkg/lib/server/server.go", 'return ":8080"', 'return "127.0.0.1:0"'),
            # Without it a client makes 5 requests a second, and a plan comes 8 s after its Subscription. The other
            # operator has no limit.
            Replacement(
                OLM_MODULE,
                "pkg/controller/operators/catalog/operator.go",
                "\t// Create a new client for OLM types (CRs)\n",
                "\tconfig.QPS = -1\n",
            ),
        ),
    ),
    _job_controller("kueue", KUEUE_MODULE, KUEUE, "/cmd/kueue"),
    _job_controller("jobset", JOBSET_MODULE, JOBSET, ""),
    _job_controller("trainer", TRAINER_MODULE, TRAINER, "/cmd/trainer-controller-manager"),
    Module(
        "cert-manager",
        CERT_MANAGER,
        (Binary("cert-manager", ".", ("-version",), re.compile(rf"\Av{re.escape(CERT_MANAGER)}\s*\Z")),),
        ((f"{CERT_MANAGER_MODULE}/pkg/util.AppVersion", f"v{CERT_MANAGER}"),),
        on_demand=True,
        # Its webhook has no setting for the address, and would be called from other hosts.
        replacements=(
            Replacement(
                CERT_MANAGER_MODULE,
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
                f"{GPU_OPERATOR_MODULE}/cmd/gpu-operator",
                (),
                re.compile(rf"^mod\t{re.escape(GPU_OPERATOR_MODULE)}\t{re.escape(GPU_OPERATOR_REVISION)}\b", re.M),
            ),
        ),
        ((f"{GPU_OPERATOR_MODULE}/internal/info.version", f"v{GPU_OPERATOR}"),),
        on_demand=True,
        # It reads what its image and its node have at the root, and so needs one of its own; here that is the folder
        # that it runs in.
        replacements=tuple(
            Replacement(GPU_OPERATOR_MODULE, file, f'"/{path}', f'"{path}')
            for file, path in (
                ("controllers/state_manager.go", "opt/gpu-operator"),
                ("internal/state/manager.go", "opt/gpu-operator"),
                ("controllers/object_controls.go", "host-etc/os-release"),
            )
        ),
    ),
    Module(
        "dra-driver-nvidia-gpu",
        DRA_DRIVER,
        (
            Binary(
                "compute-domain-controller",
                f"{DRA_DRIVER_MODULE}/cmd/compute-domain-controller",
                ("--version",),
                re.compile(rf"^compute-domain-controller version v{re.escape(DRA_DRIVER)}$", re.M),
            ),
        ),
        ((f"{DRA_DRIVER_MODULE}/internal/info.version", f"v{DRA_DRIVER}"),),
        on_demand=True,
        # It reads what its image has at the root; here that is the folder that it runs in.
        replacements=tuple(
            Replacement(DRA_DRIVER_MODULE, f"cmd/compute-domain-controller/{file}", f'"/templates/{path}', f'"{path}')
            for file, path in (
                ("daemonset.go", "compute-domain-daemon.tmpl.yaml"),
                ("resourceclaimtemplate.go", "compute-domain-daemon-claim-template.tmpl.yaml"),
                ("resourceclaimtemplate.go", "compute-domain-workload-claim-template.tmpl.yaml"),
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
