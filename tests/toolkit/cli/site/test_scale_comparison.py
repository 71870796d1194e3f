"""`./hpc site diff` on what Spectrum Scale's commands print."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.recorded import ROOT
from toolkit.cli.app import app

LOGS = ROOT / "tests" / "toolkit" / "evidence" / "logs"
CONFIG = (LOGS / "mmlsconfig" / "r-3.3-7.log").read_text()
NODES = (LOGS / "mmlscluster" / "r-3.3-2.log").read_text().partition("[ ... plus")[0]
REMOTE = (LOGS / "mmremotecluster" / "r-3.3-4.log").read_text()


def diff(text: str, folder: Path, stack: str = "dev", code: int = 1) -> str:
    """Run the command on a text; return what it prints, with blanks in a row as one."""
    (folder / "log").write_text(text)
    command = ["site", "diff", "--stack", stack, "-f", str(folder / "log")]
    result = CliRunner().invoke(app, command, catch_exceptions=False, terminal_width=200)
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize("text", [CONFIG, NODES, REMOTE], ids=["mmlsconfig", "mmlscluster", "mmremotecluster"])
def test_what_the_paper_prints_is_wanted(text: str, tmp_path: Path) -> None:
    """The Redpaper's own outputs differ in nothing from the settings of its stack."""
    assert "matches the settings of stack dev" in diff(text, tmp_path, code=0)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        (CONFIG, "pagepool 128G", "pagepool 64G", "different pagepool [dgx]: 128G pagepool [dgx]: 64G"),
        (CONFIG, "verbsRdma enable\n", "", "missing verbsRdma [dgx]: enable"),
        (CONFIG, "[common]", "[common]\nworkerThreads 48", "extra workerThreads [common]: 48"),
        (CONFIG, "cluster SpectrumScale.", "cluster Other.", "different clusterName: SpectrumScale"),
        (
            NODES,
            "dgx02.ocp4.scale.com ",
            "dgx02.ocp4.scale.net ",
            "different node dgx02.ocp4.scale.ibm.com: dgx02.ocp4.scale.com client",
        ),
        (
            NODES,
            "16217308676014575381",
            "16217308676014575382",
            "different id: 16217308676014575381 id: 16217308676014575382",
        ),
        (
            NODES,
            "quorum-manager-perfmon",
            "perfmon",
            "node scale00.ocp4.scale.ibm.com: scale00.ocp4.scale.com client",
        ),
        (REMOTE, "fscc-fab3-3-b-priv", "fscc-fab3-3-c-priv", "different contact nodes"),
        (REMOTE, "ess3000_4M (ess3000_4M)", "ess3000_4M (lake)", "missing file system"),
        (REMOTE, "ess3000.bda.scale.ibm.com", "other.bda.scale.ibm.com", "missing contact nodes"),
    ],
)
def test_each_difference_is_named(text: str, old: str, new: str, expected: str, tmp_path: Path) -> None:
    """Attributes, nodes and the remote file system differ one by one."""
    assert old in text
    assert expected in diff(text.replace(old, new), tmp_path)


def test_other_attributes_are_counted(tmp_path: Path) -> None:
    """What no setting speaks of is neither right nor wrong."""
    printed = diff(CONFIG, tmp_path, code=0)
    assert "3 statements are not compared" in printed
    assert "cipherList AUTHONLY" in printed


def test_a_stack_without_clients_is_refused(tmp_path: Path) -> None:
    """Outputs of clients do not belong to a stack that has none."""
    printed = diff(CONFIG, tmp_path, stack="redpaper-today", code=2)
    assert "stack redpaper-today names none" in printed
    assert "Set site.scale" in printed
