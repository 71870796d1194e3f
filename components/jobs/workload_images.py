"""What the images of the source documents contain: facts of each, to be built by ImageBuild.

Left out: packages for users at a terminal (vim, tree), and keys for SSH.
"""

from pydantic import Field

from components.base.model import Image, Model
from components.jobs.containerfiles import Ofed, Recipe, Ref, Repository

SSH = ("openssh-client", "openssh-server")
"""What MPI of v2beta1 needs in launcher and workers."""
_SSHD = ("mkdir -p /run/sshd", "rm -f /etc/ssh/ssh_host_*")
"""The package makes keys of the host when it is installed: every pod of the image would have the same."""

_VERBS = ("ibverbs-providers", "libibverbs1", "librdmacm1")

_INSTALLER = (
    *("automake", "autotools-dev", "bison", "ca-certificates", "chrpath", "debhelper", "dkms", "dpatch", "ethtool"),
    *("flex", "gfortran", "graphviz", "iproute2", "kmod", "libelf1", "libglib2.0-0", "libltdl-dev", "libmnl-dev"),
    *("libmnl0", "libnl-3-200", "libnl-3-dev", "libnl-route-3-200", "libnl-route-3-dev", "libnuma1", "lsb-release"),
    *("lsof", "m4", "pciutils", "perl", "pkg-config", "python-libxml2", "quilt", "swig", "tcl", "tcsh", "tk", "udev"),
    "wget",
)
"""What MLNX_OFED's installer and its packages ask for."""
_BUILD = ("autoconf", "build-essential", "cmake", "git", "libpci-dev", "make")
_MEASURE = ("dmidecode", "hwloc", "iperf3", "iputils-ping", "net-tools", "numactl", "usbutils")

_NCCL_TESTS = "https://github.com/NVIDIA/nccl-tests"
NCCL_TESTS_PATH = "/opt/nccl-tests/build:$PATH"
_PERFTEST = "https://github.com/linux-rdma/perftest"
_BENCHMARKS = "https://github.com/tensorflow/benchmarks"
_PYTORCH = "https://github.com/pytorch/pytorch"


class Sources(Model):
    """Revisions of sources that the documents leave unpinned; a commit never changes."""

    nccl_tests: Ref = Field(description="revision of NVIDIA/nccl-tests")
    perftest: Ref = Field(description="revision of linux-rdma/perftest")
    benchmarks: Ref = Field(
        default="cnn_tf_v1.15_compatible", description="branch of tensorflow/benchmarks, or a commit"
    )


def _nccl_tests(ref: Ref) -> Repository:
    commands = ("make MPI=1 MPI_HOME=/usr/local/mpi",)
    return Repository(name="nccl-tests", uri=_NCCL_TESTS, ref=ref, commands=commands)


def ngc(base: Image, nccl_tests: Ref) -> Recipe:
    """Return an image of NGC for MPI of v2beta1, with nccl-tests, so that a first job needs nothing on its volume.

    NGC brings verbs along, and Open MPI below /usr/local/mpi. The Redpaper names the verbs' driver by its path:
    libibverbs adds the suffix of its own ABI to IBV_DRIVERS, so the variable has none.
    """
    return Recipe(
        base=base,
        packages=(*SSH, *_BUILD),
        repositories=(_nccl_tests(nccl_tests),),
        clean=_SSHD,
        environment={"IBV_DRIVERS": "/usr/lib/libibverbs/libmlx5", "PATH": NCCL_TESTS_PATH},
    )


def horovod(base: Image) -> Recipe:
    """Return an image of Horovod, or another one of Ubuntu without verbs, with the distribution's."""
    return Recipe(base=base, packages=(*_VERBS, *SSH), clean=_SSHD)


def multi_node(base: Image, ofed: Ofed | None, sources: Sources) -> Recipe:
    """Return the image of NVIDIA AI Enterprise: the host's OFED, nccl-tests with MPI, perftest with CUDA, benchmarks.

    Without `ofed` the base's own verbs: for nodes whose driver comes in a container and has no user space of its time.
    """
    return Recipe(
        base=base,
        packages=(*_INSTALLER, *_BUILD, *_MEASURE, *SSH),
        ofed=ofed,
        python_packages=("absl-py",),
        repositories=(
            Repository(name="benchmarks", uri=_BENCHMARKS, ref=sources.benchmarks),
            _nccl_tests(sources.nccl_tests),
            Repository(
                name="perftest",
                uri=_PERFTEST,
                ref=sources.perftest,
                commands=(
                    "./autogen.sh",
                    "CUDA_H_PATH=/usr/local/cuda/include/cuda.h ./configure",
                    "make install",
                ),
            ),
        ),
        # Without these marks the base's entry point checks its CUDA compatibility again at every start.
        clean=("rm -f ${_CUDA_COMPAT_PATH}/.*.checked", *_SSHD),
        environment={"PATH": NCCL_TESTS_PATH},
    )


def pytorch_from_source(base: Image, pytorch: Ref, architectures: tuple[str, ...] = ("7.0",)) -> Recipe:
    """Return the Supermicro reference's image: PyTorch for compute capabilities, on RHEL with CUDA's compiler."""
    return Recipe(
        base=base,
        manager="dnf",
        packages=("cmake", "gcc-c++", "git", "make", "python3-devel", "python3-pip"),
        repositories=(
            Repository(
                name="pytorch",
                uri=_PYTORCH,
                ref=pytorch,
                submodules=True,
                commands=(
                    "python3 -m pip install --no-cache-dir -r requirements.txt",
                    f'TORCH_CUDA_ARCH_LIST="{";".join(architectures)}" python3 setup.py install',
                ),
            ),
        ),
    )
