"""Finding and making tools, with a `go` that only pretends."""

import os
import stat
import subprocess
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from core.project import PRODUCT
from toolkit.engine import tools
from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools import build as tool_build
from toolkit.engine.tools import go
from toolkit.engine.tools.modules import MODULES
from toolkit.engine.tools.records import GO_MODULES, Module
from toolkit.engine.tools.table import DATA_OF, MODULE_OF, NAMES, USUAL

# What the pretended Go does: `env` answers GO_ENV, `list` names three packages, `build` says that it compiles them
# and writes a command that prints BUILT_VERSION.
FAKE_GO = """#!/bin/sh
echo "$1" >> "$GO_CALLS"
case "$1" in
env) printf '%b\\n' "${GO_ENV:-go1.26.1\\nauto}" ;;
mod) printf '{"Dir": "%s", "Sum": "%s"}' "$GO_MODULE" "$GO_SUM" ;;
list) printf 'a\\nb\\nc\\n' ;;
build)
  while [ "$1" != -o ]; do shift; done
  echo "go: downloading x v1" >&2; echo a >&2; echo b >&2
  if [ -n "$GO_FAILS" ]; then echo "$GO_FAILS" >&2; exit 1; fi
  sleep "${GO_SLEEPS:-0}"
  printf '#!/bin/sh\\necho "%s"\\n' "${BUILT_VERSION:-etcd Version: 3.6.6}" > "$2"; chmod +x "$2"
  sleep "${GO_SLEEPS:-0}" ;;
esac
"""


class Heard:
    """A progress that remembers."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.updates: list[tuple[float | None, float | None, str]] = []

    def step(self, title: str) -> AbstractContextManager["Heard"]:
        """Remember the step's title."""
        self.titles.append(title)
        return nullcontext(self)

    def update(self, done: float | None = None, total: float | None = None, what: str = "") -> None:
        """Remember what was reported."""
        self.updates.append((done, total, what))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty cache, and a PATH with the pretended Go and a few plain commands."""
    commands = tmp_path / "bin"
    commands.mkdir()
    write_command(commands / "go", FAKE_GO)
    for name in ("sh", "sleep", "printf", "chmod", "echo"):
        (commands / name).symlink_to(
            next(path for path in (Path("/bin") / name, Path("/usr/bin") / name) if path.exists())
        )
    monkeypatch.setenv("PATH", str(commands))
    monkeypatch.setenv("HPC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GO_CALLS", str(tmp_path / "calls"))
    return tmp_path


def write_command(path: Path, text: str) -> None:
    """Write an executable file."""
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def calls(machine: Path) -> list[str]:
    """Return the sub-commands that the pretended Go was called with."""
    log = machine / "calls"
    return log.read_text().split() if log.exists() else []


def left_over(machine: Path) -> list[str]:
    """Return what is in the cache besides finished tools and locks."""
    return [path.name for path in (machine / "cache").glob("*.making-*")]


@pytest.mark.parametrize(
    ("name", "printed", "fits"),
    [
        ("pulumi", "v3.260.0\n", True),
        ("pulumi", "3.272.1\n", True),
        ("pulumi", "v3.259.0\n", False),
        ("pulumi", "v4.0.0\n", False),
        ("etcd", "etcd Version: 3.6.9\nGit SHA: x\n", True),
        ("etcd", "etcd Version: 3.5.21\n", False),
        ("kube-apiserver", "Kubernetes v1.34.7\n", True),
        ("kube-apiserver", "Kubernetes v1.33.2\n", False),
        ("kube-scheduler", "Kubernetes v1.34.0-rc.1\n", False),
        ("kube-scheduler-1.35", "Kubernetes v1.35.0\n", True),
        ("kube-scheduler-1.35", "Kubernetes v1.34.2\n", False),
        ("kwok", "kwok version v0.7.0 go1.26.8 (linux/amd64)\n", True),
        ("kwok", "kwok version v0.8.0 go1.26.8 (linux/amd64)\n", False),
        ("mpi-operator", "v0.2.3\n", True),
        ("mpi-operator", "MPI Operator Version: v0.2.3\n", False),
        ("mpi-operator-v2beta1", "v0.8.2\n", True),
        ("mpi-operator-v2beta1", "v0.2.3\n", False),
    ],
)
def test_versions_that_will_do(name: str, printed: str, fits: bool) -> None:
    """A tool on PATH is used only in a version that fits."""
    assert (MODULE_OF[name][1].fits.search(printed) is not None) is fits


@pytest.mark.parametrize(
    ("version", "toolchain", "suffices"),
    [
        ("go1.25.11", "path", True),
        ("go1.25.11", "local", True),
        ("go1.26", "local", True),
        ("go1.25.10", "local", False),
        ("go1.25.10", "auto", True),
        ("go1.24.0", "auto", True),
        ("go1.24.0", "local", False),
        ("go1.23.9", "auto", False),
        ("devel go1.27-abcdef", "local", False),
        ("", "", False),
    ],
)
def test_go_that_suffices(version: str, toolchain: str, suffices: bool) -> None:
    """Only a Go that builds the modules, or fetches one that does, suffices."""
    assert go.suffices(version, toolchain, "1.25.11") is suffices


def test_each_module_asks_for_the_go_that_it_needs(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kueue needs a later Go than the rest; the message names that one."""
    assert go.needed(MODULE_OF["etcd"][0]) == "1.25.11"
    monkeypatch.setenv("GO_ENV", "go1.25.11\\nlocal")
    assert go.command_for(MODULE_OF["etcd"][0]) == str(machine / "bin" / "go")
    with pytest.raises(
        SimulatorError, match=r"kueue must be built, and .* is go1\.25\.11 .*install Go 1\.26\.0 or later"
    ):
        tools.find("kueue")


def test_a_command_that_prints_no_version_is_known_by_what_the_linker_recorded(machine: Path) -> None:
    """What is on PATH under its name is never taken for it; what was built is read, not run."""
    path = machine / "bin" / "kueue"
    kueue = MODULE_OF["kueue"][1]
    for version, fits in (("v0.19.2", True), ("v0.19.1", False)):
        write_command(path, f"\0path\tsigs.k8s.io/kueue/cmd/kueue\nmod\tsigs.k8s.io/kueue\t{version}\th1:x\n")
        assert tool_build.fits(path, kueue) is fits
    write_command(path, "mod\tsigs.k8s.io/kueue\tv0.19.2\th1:x\n")
    assert tools.missing(["kueue"]) == ("kueue",)
    with pytest.raises(SimulatorError, match=r"kueue was built, but it does not record version 0\.19\.2"):
        tools.find("kueue")


def test_what_few_stacks_use_is_made_for_them_alone() -> None:
    """The controllers of jobs and what they install are not part of what is made at once, and have one go.mod."""
    names = {"kueue", "jobset", "trainer"}
    assert not {*names, *(f"{name}-manifests" for name in names), "cert-manager", "cert-manager-chart"} & {*USUAL}
    assert {MODULE_OF[name][0].folder for name in names} == {GO_MODULES / "job-controllers"}


def test_data_has_folders_that_its_owner_can_remove(tmp_path: Path) -> None:
    """What is copied out of the module cache, where nothing can be written, has not its permissions."""
    source, target = tmp_path / "assets", tmp_path / "copy"
    (source / "state").mkdir(parents=True)
    (source / "state" / "a.yaml").write_text("a")
    for path in (source / "state" / "a.yaml", source / "state", source):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        tool_build.copy(source, target)
        assert (target / "state" / "a.yaml").read_text() == "a"
        assert (target / "state").stat().st_mode & 0o200
        assert (target / "state" / "a.yaml").stat().st_mode & 0o200
    finally:
        for path in (source, source / "state"):
            path.chmod(0o755)


def test_modules_pin_what_the_table_says() -> None:
    """The table names the versions that go.mod builds."""
    pinned = {
        "pulumi": "github.com/pulumi/pulumi/pkg/v3 v{}",
        "etcd": "go.etcd.io/etcd/server/v3 v{}",
        "kubernetes": "k8s.io/kubernetes v{}",
        "kubernetes-1.35": "k8s.io/kubernetes v{}",
        "kwok": "sigs.k8s.io/kwok v{}",
        "mpi-operator": "github.com/kubeflow/mpi-operator v{}",
        "mpi-operator-v2beta1": "github.com/kubeflow/mpi-operator v{}",
        "node-feature-discovery": "sigs.k8s.io/node-feature-discovery v{}",
        "operator-lifecycle-manager": "github.com/operator-framework/operator-lifecycle-manager v{}",
        "kueue": "sigs.k8s.io/kueue v{}",
        "jobset": "sigs.k8s.io/jobset v{}",
        "trainer": "github.com/kubeflow/trainer/v2 v{}",
        "cert-manager": "github.com/cert-manager/cert-manager v{}",
        # Of its own the module has no version.
        "gpu-operator": "github.com/NVIDIA/gpu-operator v0.0.0-20250917190837-d73a0086a6ba",
        "dra-driver-nvidia-gpu": "sigs.k8s.io/dra-driver-nvidia-gpu v{}",
        "kubectl": "k8s.io/kubectl v{}",
        "actionlint": "github.com/rhysd/actionlint v{}",
    }
    assert {module.name for module in MODULES} == set(pinned)
    for module in MODULES:
        assert pinned[module.name].format(module.version) in (module.folder / "go.mod").read_text()
        assert (module.folder / "go.sum").exists()


def test_built_once_with_progress_then_reused(machine: Path) -> None:
    """A tool is built once, with progress, and then found in the cache."""
    heard = Heard()
    path = tools.find("etcd", progress=heard)
    assert path.is_relative_to(machine / "cache")
    assert heard.titles == ["building etcd 3.6.6"]
    assert [update[:2] for update in heard.updates] == [(None, None), (0, 3), (1, 3), (2, 3)]
    assert [update[2].partition(",")[0] for update in heard.updates[1:]] == ["downloading x v1", "a", "b"]
    assert heard.updates[-1][2].endswith(" s left")
    assert calls(machine) == ["env", "list", "build"]
    assert tools.find("etcd") == path
    assert tools.missing(["etcd", "kwok"]) == ("kwok",)
    assert calls(machine) == ["env", "list", "build"]
    assert left_over(machine) == []


def test_a_version_that_few_need_is_built_when_it_is_asked_for(machine: Path) -> None:
    """A second Kubernetes is not part of what is built at once, and its files are called as the first one's."""
    assert "kube-apiserver-1.35" in NAMES
    assert not [name for name in USUAL if name.endswith("-1.35")]
    assert "kube-apiserver-1.35" not in tools.missing()
    first, second = (tools.command(name) for name in ("kube-apiserver", "kube-apiserver-1.35"))
    assert first == second == "kube-apiserver"
    installed = machine / "bin" / "kube-apiserver"
    write_command(installed, "#!/bin/sh\necho 'Kubernetes v1.35.7'\n")
    assert tools.find("kube-apiserver-1.35") == installed
    assert tools.missing(["kube-apiserver"]) == ("kube-apiserver",)


def test_path_is_preferred_when_the_version_fits(machine: Path) -> None:
    """An installed tool is used if, and only if, its version fits."""
    installed = machine / "bin" / "etcd"
    write_command(installed, "#!/bin/sh\necho 'etcd Version: 3.6.8'\n")
    assert tools.find("etcd") == installed
    assert calls(machine) == []
    write_command(installed, "#!/bin/sh\necho 'etcd Version: 3.4.1'\n")
    assert tools.find("etcd") != installed


@pytest.mark.parametrize("variable", ["HPC_TOOLS", "KUBEBUILDER_ASSETS"])
def test_a_folder_of_installed_tools_goes_before_path(
    machine: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A tool in the folder that the user names is used, in a version that fits; any other is looked for on PATH."""
    named, installed = machine / "named" / "etcd", machine / "bin" / "etcd"
    named.parent.mkdir()
    monkeypatch.setenv(variable, str(named.parent))
    write_command(named, "#!/bin/sh\necho 'etcd Version: 3.6.4'\n")
    write_command(installed, "#!/bin/sh\necho 'etcd Version: 3.6.8'\n")
    assert tools.find("etcd") == named
    write_command(named, "#!/bin/sh\necho 'etcd Version: 3.5.21'\n")
    assert tools.find("etcd") == installed
    assert calls(machine) == []


def test_sources_of_all_tools_are_listed_while_one_is_built(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tools are made together, as one step; an error of one is the error of all, and leaves nothing of them."""
    heard, names = Heard(), ("etcd", "mpi-operator", "mpi-operator-v2beta1")
    monkeypatch.setenv("GO_SLEEPS", "0.2")
    with pytest.raises(SimulatorError, match=r"mpi-operator\S* was built, but `.*` does not print version"):
        tools.ensure(names, heard)
    assert heard.titles == ["building etcd, mpi-operator, mpi-operator-v2beta1"]
    assert [name for name in calls(machine) if name != "env"][:3].count("list") >= 2
    assert {*names[1:]} <= {*tools.missing(names)}
    assert left_over(machine) == []


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("GO_FAILS", "dial tcp: no such host", r"(?s)`go build` of etcd failed.*GOPROXY.*no such host"),
        ("GO_FAILS", "write /tmp/go-build/b001: no space left on device", r"filled the disk: make room"),
        ("BUILT_VERSION", "etcd Version: 0.0.0", r"does not print version 3\.6\.6"),
        ("GO_ENV", "go1.22.3\\nlocal", r"etcd must be built, and .* is go1\.22\.3 .*install Go 1\.25\.11"),
    ],
)
def test_failed_build_shows_why_and_leaves_nothing(
    machine: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, complaint: str
) -> None:
    """A failed build names its cause and leaves nothing; with a Go that is too old none is started."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(SimulatorError, match=complaint):
        tools.find("etcd")
    assert ("build" in calls(machine)) == (variable != "GO_ENV")
    assert tools.missing(["etcd"]) == ("etcd",)
    assert left_over(machine) == []
    monkeypatch.delenv(variable)
    assert tools.find("etcd").exists()


def test_without_go_only_a_needed_build_fails(machine: Path) -> None:
    """Go is needed only where something must be built."""
    built = tools.find("etcd")
    (machine / "bin" / "go").unlink()
    assert tools.find("etcd") == built
    with pytest.raises(SimulatorError, match=r"kwok must be built, and there is no Go on PATH"):
        tools.find("kwok")
    with pytest.raises(SimulatorError, match=r"openshift-crds must be fetched, and there is no Go"):
        tools.find("openshift-crds")


def test_a_cache_that_cannot_be_written_is_refused_before_anything_is_downloaded(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache that is a file, or in a place where there can be none, is an error that names it and HPC_CACHE."""
    (machine / "file").touch()
    for path in (machine / "file", Path("/proc/hpc")):
        monkeypatch.setenv("HPC_CACHE", str(path))
        with pytest.raises(SimulatorError, match=rf"cannot write below {path} .*: set HPC_CACHE to a folder"):
            tools.find("etcd")
    assert calls(machine) == []


def test_unknown_tool_is_named() -> None:
    """An unknown tool is an error that names the known ones."""
    with pytest.raises(SimulatorError, match=r"unknown tool 'kubeadm'; known: pulumi, etcd"):
        tools.find("kubeadm")


def test_data_is_copied_only_from_the_published_module(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data is copied only from a module with the published checksum."""
    source = DATA_OF["kwok-crds"].sources[0]
    module = machine / "module"
    (module / source.folder).mkdir(parents=True)
    for name in source.files:
        (module / source.folder / name).write_text("kind: CustomResourceDefinition")
    monkeypatch.setenv("GO_MODULE", str(module))
    monkeypatch.setenv("GO_SUM", "h1:other")
    with pytest.raises(SimulatorError, match=r"sigs\.k8s\.io/kwok@v0\.7\.0 has checksum h1:other"):
        tools.find("kwok-crds")
    assert left_over(machine) == []
    monkeypatch.setenv("GO_SUM", source.checksum)
    assert sorted(path.name for path in tools.find("kwok-crds").iterdir()) == sorted(source.files)


def test_killed_build_is_done_again(machine: Path) -> None:
    """What a killed build left is removed, and the tool is built again."""
    environment = {**os.environ, "GO_SLEEPS": "20", "PYTHONPATH": str(PRODUCT)}
    script = "from toolkit.engine import tools; tools.find('etcd')"
    builder = subprocess.Popen([sys.executable, "-c", script], env=environment, start_new_session=True)
    deadline = time.monotonic() + 10
    while "build" not in calls(machine) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(builder.pid, 9)
    builder.wait()
    assert left_over(machine) != []
    assert tools.missing(["etcd"]) == ("etcd",)
    assert tools.find("etcd").exists()
    assert left_over(machine) == []


@pytest.mark.engine  # starts two programs that import the simulator
def test_two_at_once_build_once(machine: Path) -> None:
    """Of two builds of one tool at the same time, one builds and the other waits."""
    environment = {**os.environ, "GO_SLEEPS": "0.3", "PYTHONPATH": str(PRODUCT)}
    script = "from toolkit.engine import tools; print(tools.find('etcd'))"
    both = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    found = {one.communicate(timeout=20)[0] for one in both}
    assert len(found) == 1
    assert calls(machine).count("build") == 1


def test_cache_name_follows_what_decides_the_binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache's folder changes with go.mod, the main file and the linker's flags."""
    folder = tmp_path / "mpi-operator"
    folder.mkdir()
    (folder / "main.go").write_text("package main")
    monkeypatch.setattr("toolkit.engine.tools.records.GO_MODULES", tmp_path)
    module = MODULE_OF["mpi-operator"][0]
    first = module.cache_name()
    assert first == module.cache_name()
    (folder / "main.go").write_text("package main // changed")
    second = module.cache_name()
    other = Module(module.name, module.version, module.binaries, (("main.version", "1"),))
    assert len({first, second, other.cache_name()}) == 3
