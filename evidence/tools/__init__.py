"""One parser a tool. A tool that is to be read is added here."""

from evidence.parser import Parser
from evidence.tools.bonding import BondingParser
from evidence.tools.cuda_vector_add import CudaVectorAddParser
from evidence.tools.deeplearningexamples import DeepLearningExamplesParser
from evidence.tools.device_plugin import DevicePluginParser
from evidence.tools.esxcli_kernel import EsxcliKernelParser
from evidence.tools.esxcli_pci import EsxcliPciParser
from evidence.tools.getent_hosts import GetentHostsParser
from evidence.tools.horovod_synthetic import HorovodSyntheticParser
from evidence.tools.ib_smnode import IbSmNodeParser
from evidence.tools.ibhosts import IbHostsParser
from evidence.tools.ibstat import IbStatParser
from evidence.tools.ibstatus import IbStatusParser
from evidence.tools.lscpu import LsCpuParser
from evidence.tools.lsmod import LsModParser
from evidence.tools.lspci import LsPciParser
from evidence.tools.mllog import MlLogParser
from evidence.tools.mlxconfig import MlxConfigParser
from evidence.tools.mmlscluster import MmLsClusterParser
from evidence.tools.mmlsconfig import MmLsConfigParser
from evidence.tools.mmremotecluster import MmRemoteClusterParser
from evidence.tools.nccl_tests import NcclTestsParser
from evidence.tools.net_devices import NetDevicesParser
from evidence.tools.nodes import NodesParser
from evidence.tools.nvidia_smi import NvidiaSmiParser
from evidence.tools.nvidia_smi_topo import NvidiaSmiTopoParser
from evidence.tools.perftest import PerftestParser
from evidence.tools.rdma_devices import RdmaDevicesParser
from evidence.tools.semodule import SeModuleParser
from evidence.tools.tf_cnn_benchmarks import TfCnnParser
from evidence.tools.ulimit import UlimitParser
from evidence.tools.whoami import WhoAmIParser

PARSERS: tuple[type[Parser], ...] = (
    BondingParser,
    CudaVectorAddParser,
    DeepLearningExamplesParser,
    DevicePluginParser,
    EsxcliKernelParser,
    EsxcliPciParser,
    GetentHostsParser,
    HorovodSyntheticParser,
    IbSmNodeParser,
    IbHostsParser,
    IbStatParser,
    IbStatusParser,
    LsCpuParser,
    LsModParser,
    LsPciParser,
    MlLogParser,
    MlxConfigParser,
    MmLsClusterParser,
    MmLsConfigParser,
    MmRemoteClusterParser,
    NcclTestsParser,
    NetDevicesParser,
    NodesParser,
    NvidiaSmiParser,
    NvidiaSmiTopoParser,
    PerftestParser,
    RdmaDevicesParser,
    SeModuleParser,
    TfCnnParser,
    UlimitParser,
    WhoAmIParser,
)
"""All parsers; where two begin alike, the first that matches is taken."""
