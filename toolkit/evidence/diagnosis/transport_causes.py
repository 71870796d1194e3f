"""Known causes of another transport than the requested one: HCAs, links, addresses, GPUDirect."""

from toolkit.evidence.diagnosis.cause import DIRECT, HCAS, LATENCY, LINK, STARTED, TRANSPORT, Cause

TRANSPORT_CAUSES: tuple[Cause, ...] = (
    Cause(
        name="ib-disabled",
        shows=r"NCCL_IB_DISABLE set (?:by environment )?to 1",
        why="NCCL is configured not to use InfiniBand",
        remedy="leave `transport` of the workload empty or set it to gpudirect, and remove NCCL_IB_DISABLE from "
        "`environment`",
        explains=TRANSPORT | LATENCY,
        ends=False,
        source="R-4.3-4; docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    ),
    Cause(
        name="libfabric",
        shows=r"\bvia NET/[\w ]*Libfabric\b|\bvia NET/OFI\b|Using network (?:AWS )?Libfabric",
        why="ranks communicate over libfabric (AWS EFA), which is neither InfiniBand nor TCP",
        remedy="`transport` does not support EFA, and no limit covers it: judge such a job without its fabric, or, "
        "where the nodes have InfiniBand, use an `image` without the aws-ofi-nccl plugin",
        explains=frozenset({"transport-between-nodes", "no-other-network"}),
        ends=False,
        source="github.com/aws/aws-ofi-nccl/issues/715",
    ),
    Cause(
        name="no-verbs-library",
        shows=r"Failed to open libibverbs",
        why="the image has no libibverbs, without which NCCL uses neither InfiniBand nor RoCE, whatever the pod has",
        remedy="use an `image` with rdma-core (libibverbs1, ibverbs-providers), or build one (`builds` with `ofed`)",
        explains=TRANSPORT | LATENCY | LINK | frozenset({"hcas-used"}),
        ends=False,
        source="github.com/NVIDIA/nvidia-container-toolkit/issues/1877; NCCL 2.18 to 2.30, misc/ibvsymbols.cc",
    ),
    Cause(
        name="no-ib-device",
        shows=r"NET/IB : No device found"
        r"|libibverbs: Warning: (?:couldn't load driver|no userspace device-specific)|failed to get IB devices list"
        r"|no IB devices? found|IB device \S+ not found|Unable to find (?:the )?IB dev",
        why="no HCA is in the pod, or the image has no driver for it",
        remedy="check that `fabric.plugin` offers rdma/shared_ib* on the node (`./hpc status`) and that `ports` name "
        "existing devices, and use an image with a verbs driver (IBV_DRIVERS in `environment`, `builds` with `ofed`)",
        explains=TRANSPORT | LATENCY | LINK | frozenset({"hcas-used"}),
        ends=False,
        source="R-3.4.2, R-4.3-5; NCCL 2.18 to 2.30, transport/net_ib",
    ),
    Cause(
        name="hca-absent",
        shows=r"port \S+ (?:is )?(?:not active|down)|Port number \d+ state is (?:Down|Initialize|Armed)",
        why="an HCA is down, or not in the pod",
        remedy="check its cable and the node's ibstatus, and that `ports` (or the profile) and the resources of "
        "`fabric.plugin` name every HCA",
        explains=TRANSPORT | LINK | HCAS,
        source="NVIDIA's manual of ibdiagnet (port states); linux-rdma/perftest, perftest_resources.c",
    ),
    Cause(
        name="no-route",
        shows=r"modify_qp.*(?:network is unreachable|no route to host)|failed to modify QP.*(?:unreachable|no route)",
        why="no route leads from a port to the other rank's port: they are in different subnets or planes",
        remedy="connect equal rails: give each rail one subnet on all nodes (`fabric.networks.subnets`), or routes "
        "between them; NCCL_CROSS_NIC=0 and the order of NCCL_IB_HCA in `environment` keep ranks to one rail",
        explains=TRANSPORT | LINK | LATENCY | STARTED,
        source="github.com/NVIDIA/nccl/issues/799, github.com/NVIDIA/nccl-tests/issues/185",
    ),
    Cause(
        name="adapter-elsewhere",
        shows=r"modify_qp.*no such device|failed to modify QP.*no such device|rdma_create_ep: No such device",
        why="the pod sees an HCA whose network interface is not in it: on RoCE a connection needs the address that the "
        "interface has in the pod",
        remedy="attach each rail's network to the pod (`fabric.networks`), or name only the HCAs that show_gids lists "
        "in it (`ports`, NCCL_IB_HCA in `environment`)",
        explains=TRANSPORT | LINK | LATENCY | STARTED,
        source="github.com/NVIDIA/nccl/issues/925, github.com/Mellanox/k8s-rdma-sriov-dev-plugin/issues/33",
    ),
    Cause(
        name="gid-index",
        shows=r"modify_qp.*(?:invalid argument|no data available)|failed to modify QP.*(?:invalid argument|no data)",
        why="the GID by which a connection was to be made is not a valid one of the port, or not of RoCE v2",
        remedy="remove NCCL_IB_GID_INDEX from `environment`: NCCL 2.21 and later choose it; with an older one, set the "
        "index that show_gids lists as v2 in the pod",
        explains=TRANSPORT | LINK | LATENCY | STARTED,
        source="docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (RoCE); "
        "github.com/k8snetworkplumbingwg/multus-cni/issues/1100",
    ),
    Cause(
        name="gid-link-local",
        shows=r"ibv_modify_qp failed.*\bGID fe80:|got completion .*\blocalGid fe80:|rmac \S+ sgix \d+ dgid fe80:",
        why="a connection on RoCE was to be made from a link-local GID (fe80::), which no router forwards",
        remedy="remove NCCL_IB_GID_INDEX (UCX_IB_GID_INDEX) from `environment`, or set the index that show_gids lists "
        "in the pod with an IPv4 address and v2; check that each rail's interface has its address "
        "(`fabric.networks.subnets`)",
        explains=TRANSPORT | LINK | LATENCY | STARTED,
        contradicted_by=frozenset({"only-infiniband"}),
        source="github.com/NVIDIA/nccl/issues/769, github.com/openucx/ucx/issues/6000",
    ),
    Cause(
        name="wrong-gid",
        shows=r"got completion .*(?:error |error=|status=(?:\w+\()?)12\b|transport retry count(?:er)? exceeded"
        r"|ibv_modify_qp failed|failed to modify QP|wrong GID|invalid GID|failed to query gid",
        why="packets do not arrive at the other port: a wrong GID, another subnet, or a port that lost its link",
        remedy="on RoCE, check `fabric.networks.subnets` (a subnet for each rail) and NCCL_IB_GID_INDEX (for UCX "
        "UCX_IB_GID_INDEX) in `environment`; on InfiniBand, check ibstatus of both nodes, and that one subnet manager "
        "runs",
        explains=TRANSPORT | LINK | LATENCY | STARTED,
        source="NCCL 2.18 to 2.30, transport/net_ib; OpenUCX FAQ",
    ),
    Cause(
        name="roce-gid-unmapped",
        shows=r"(?:read|open) failed in ncclIbRoceGetVersionNum",
        why="NCCL before 2.26 reads the RoCE version of every GID of a port, and fails at the first that is not of the "
        "container's network namespace",
        remedy="use an `image` with NCCL 2.26 or later, or set NCCL_IB_GID_INDEX in `environment`",
        explains=TRANSPORT | LATENCY | STARTED,
        source="github.com/NVIDIA/nccl/issues/1573; NCCL 2.23 to 2.26, ncclIbRoceGetVersionNum",
    ),
    Cause(
        name="gpu-access-blocked",
        shows=r"got completion .*(?:error |error=|status=(?:\w+\()?)(?:4|10|11)\b|local protection on \w"
        r"|remote access(?: error)? on \w",
        why="the adapter was refused access to memory that it had registered: with GPUDirect, PCIe bridges that "
        "redirect its traffic (ACS), an IOMMU that translates, or a GPU that failed",
        remedy="disable ACS in the BIOS or with setpci, and the IOMMU's translation (`tuning.iommu_passthrough`); "
        "NCCL_NET_GDR_LEVEL=LOC in `environment` shows whether GPUDirect is the reason",
        explains=TRANSPORT | LINK | STARTED,
        contradicted_by=frozenset({"host-memory-only"}),
        source="NCCL 2.30.7, transport/net_ib/common.h (hints); github.com/NVIDIA/nccl/issues/928",
    ),
    Cause(
        name="port-lost",
        shows=r"got (?:non-fatal )?async (?:error )?event ?: (?:port error|local catastrophic error)"
        r"|async fatal event",
        why="an HCA reported that its port lost the link, or that it failed",
        remedy="check cable, transceiver and switch port of the HCA that the line names (`ports`), and the kernel's "
        "messages of mlx5_core on the node",
        explains=TRANSPORT | LINK | HCAS | STARTED,
        ends=False,
        source="NCCL 2.18 to 2.30, transport/net_ib (asynchronous events)",
    ),
    Cause(
        name="link-layers-mixed",
        shows=r"(?:connect|merge) (?:incompatible|net) devices|with different link_layer"
        r"|Remote \w+ device is incompatible",
        why="an HCA on InfiniBand was to talk to one on Ethernet",
        remedy="let the job use HCAs of one kind: `ports` of the machine, or NCCL_IB_HCA in `environment`",
        explains=TRANSPORT | HCAS | STARTED,
        source="NCCL 2.20 to 2.30, transport/net_ib",
    ),
    Cause(
        name="adapters-differ",
        shows=r"Detected mixed local (?:CollNet|Net) device counts",
        why="nodes of the job offer different numbers of HCAs",
        remedy="check the HCAs of each node (`./hpc status`): a port may be down, or `ports` names one that is not "
        "everywhere",
        explains=TRANSPORT | HCAS | STARTED,
        source="NCCL 2.30, init.cc",
    ),
    Cause(
        name="efa-absent",
        shows=r"fi_getinfo: provider efa output empty|NET/OFI .*(?:No eligible providers|initialization failed)"
        r"|NET/OFI Creating new endpoint .* failed",
        why="the aws-ofi-nccl plugin has no EFA device: the pod has none, or the image's libfabric does not know it",
        remedy="request vpc.amazonaws.com/efa for the pod and install the EFA driver on the node; where nodes have "
        "InfiniBand, use an `image` without the plugin",
        explains=TRANSPORT | STARTED,
        source="github.com/aws/aws-ofi-nccl/issues/889",
    ),
    Cause(
        name="efa-peer",
        shows=r"NET/OFI (?:Unable to insert remote address|.*(?:unresponsive receiver|unreachable remote))",
        why="an EFA adapter does not reach the one of another node",
        remedy="give the nodes a security group that allows all traffic from and to itself, named in rules of both "
        "directions, and one subnet; NCCL_NET=Socket in `environment` runs without EFA",
        explains=TRANSPORT | STARTED,
        source="github.com/aws/aws-ofi-nccl/issues/663",
    ),
    Cause(
        name="efa-memory",
        shows=r"NET/OFI Unable to register memory",
        why="EFA cannot register memory of a GPU",
        remedy="use instances and a driver with GPUDirect RDMA (efa_nv_peermem, or DMA-BUF by open kernel modules of "
        "`gpu.driver.version`), or FI_EFA_USE_DEVICE_RDMA=0 in `environment`",
        explains=TRANSPORT | STARTED,
        source="github.com/aws/aws-ofi-nccl/issues/584",
    ),
    Cause(
        name="ucx-devices",
        shows=r"UCX .*(?:transport|network device) '[^']*' is not available",
        why="UCX_TLS or UCX_NET_DEVICES name a transport or device that the pod does not have",
        remedy="correct UCX_TLS and UCX_NET_DEVICES in `environment`, or check that `fabric.plugin` offers the device",
        explains=TRANSPORT | LATENCY | STARTED,
        ends=False,
        source="docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (UCX and HPC-X)",
    ),
    Cause(
        name="ucx-no-transport",
        shows=r"UCX .*no active messages transport|Failed to resolve UCX endpoint",
        why="UCX has no transport that both processes can use",
        remedy="leave UCX_TLS to UCX, or set it to self,sm,tcp in `environment`; MPI needs no more where NCCL moves "
        "the data",
        explains=STARTED,
        source="docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (UCX and HPC-X)",
    ),
    Cause(
        name="gdr-distance",
        shows=r"GPU Direct RDMA Disabled for GPU .*distance",
        why="the GPU is farther from the HCA than NCCL_NET_GDR_LEVEL allows",
        remedy="give each pod all `ports` next to its GPUs, and leave the level to the profile: remove "
        "NCCL_NET_GDR_LEVEL from `environment`",
        explains=frozenset({"gpudirect", "bus-bandwidth"}),
        ends=False,
        source="E-30; NCCL 2.18 to 2.29, graph/paths.cc",
    ),
    Cause(
        name="gdr-off",
        shows=r"NCCL_NET_GDR_LEVEL set (?:by environment )?to (?:0|LOC)\b",
        why="NCCL is configured never to use GPUDirect",
        remedy="set `transport` of the workload to gpudirect, and remove NCCL_NET_GDR_LEVEL from `environment`",
        explains=DIRECT,
        ends=False,
        source="E-30; docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    ),
)
