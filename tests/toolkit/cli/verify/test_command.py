"""`./hpc verify -f`: exit statuses, and what is shown."""

import errno
import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from core.apis.nccl import Transport
from core.hardware.profiles import PROFILES
from stacks.programs import PROGRAMS, Program
from tests.support.commands import finished
from tests.support.machines import DGX1_V100_16GB, DGX_A100
from tests.support.messages import has
from tests.support.states import write_state
from tests.toolkit.evidence.criteria.cases import CASES, SINGLE_TABLE, TABLE, document, nccl
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.cli.verify import command as verify
from toolkit.cli.verify import log_files
from toolkit.cli.verify.verdict_tables import conclude

ASKED = ("--machine", "dgx1-v100-16gb", "--layout", "02x08", "--transport", "gpudirect")


_run = partial(finished, verify.command)


def _log(folder: Path, text: str, name: str = "job.log") -> str:
    file = folder / name
    file.write_text(text)
    return str(file)


def test_pass_fail_and_not_enough(tmp_path: Path) -> None:
    """The status is 0 for a pass, 1 for a failure such as a fallback to TCP, 2 for missing evidence."""
    good = _log(tmp_path, nccl() + TABLE)
    assert _run("-f", good, *ASKED)[0] == 0
    tcp = _log(tmp_path, nccl().replace("NET/IB/0/GDRDMA", "NET/Socket/0") + TABLE, "tcp.log")
    assert _run("-f", tcp, *ASKED)[0] == 1
    for text in ("", "hello\n", TABLE, nccl() + TABLE.rpartition("# Out of bounds")[0]):
        assert _run("-f", _log(tmp_path, text, "less.log"), *ASKED)[0] == 2


def test_several_logs_are_of_one_job(tmp_path: Path) -> None:
    """Several logs are judged together as one job's."""
    files = [_log(tmp_path, nccl(), "nccl.log"), _log(tmp_path, TABLE, "table.log")]
    status, output = _run("-f", files[0], "-f", files[1], *ASKED)
    assert (status, "2 logs" in output) == (0, True)
    assert _run(*files, *ASKED)[0] == 0


def test_a_failure_shows_its_line_and_its_cause(tmp_path: Path) -> None:
    """A failure shows the line that proves it, and its cause."""
    tcp = _log(tmp_path, nccl().replace("NET/IB/0/GDRDMA", "NET/Socket/0") + TABLE)
    _, output = _run("-f", tcp, *ASKED)
    flat = " ".join(output.split())
    assert has(flat, "transport-between-nodes", "fail", "NET/Socket: 2")
    assert f"{tcp}:3: nccl-test-mpi-worker-0:30:39 [0] NCCL INFO Ring 00" in flat
    assert has(flat, "transport-between-nodes, gpudirect", "fell back to TCP")
    assert (
        output.count("via NET/Socket/0")
        == output.count("fell back to TCP")
        == output.count("docs/coverage/sources.md")
        == 1
    )
    assert "failed: " in flat


def test_several_jobs_end_in_a_table_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Verdicts of several jobs end with a table of the jobs."""
    jobs = [side.job() for side in (CASES["gpudirect"].good, CASES["gpudirect"].bad)]
    named = [
        job.model_copy(update={"request": job.request.model_copy(update={"job": name})})
        for job, name in zip(jobs, "ab", strict=True)
    ]
    assert conclude(named) == 1
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    first = rows.index(["Jobs"])
    assert rows[first + 1] == ["job", "pass", "fail", "warn", "missing", "figures"]
    assert [row[0] for row in rows[first + 2 : first + 4]] == ["a", "b"]


def test_json_is_for_programs(tmp_path: Path) -> None:
    """With --json, outcome, status, jobs and verdicts are printed as JSON."""
    log = _log(tmp_path, nccl(hosts=16, gpus=1) + SINGLE_TABLE)
    status, output = _run(
        "-f", log, "--machine", "dgx1-v100-16gb", "--layout", "16x01x02", "--transport", "gpudirect", "--json"
    )
    found = json.loads(output)
    assert found["exit_status"] == status == 2
    assert (found["outcome"], found["simulated"]) == ("not enough evidence", False)
    assert found["jobs"][0]["shape"] == {"pods": 16, "gpus": 1}
    by_name = {one["criterion"]: one for one in found["verdicts"]}
    assert (by_name["complete-logs"]["status"], by_name["bus-bandwidth"]["status"]) == ("missing", "pass")
    warned = by_name["single-gpu-pods"]
    assert (warned["status"], "each pod has one GPU" in warned["causes"][0]) == ("warn", True)
    assert warned["proofs"][0]["text"].split()[0] == "268435456"


def test_nodes_are_looked_for_in_the_scale_cluster(tmp_path: Path) -> None:
    """A node of --node that is not in the Scale cluster is missing evidence."""
    log = _log(tmp_path, document("mmlscluster/r-3.3-2.log"))

    def status(node: str) -> str:
        found = json.loads(_run("-f", log, "--node", node, "--json")[1])["verdicts"]
        return str(next(one["status"] for one in found if one["criterion"] == "scale-members"))

    assert (status("dgx02.ocp4.scale.ibm.com"), status("dgx09.ocp4.scale.ibm.com")) == ("pass", "missing")
    with pytest.raises(Problem, match="--node is for logs in files"):
        _run("--node", "dgx02")


def test_simulated_logs_are_reported_as_simulated(tmp_path: Path) -> None:
    """Verdicts of simulated logs say that they are simulated."""
    log = _log(tmp_path, f"simulated by hpc\n{nccl()}{TABLE}")
    assert f"{log} (simulated)" in "".join(_run("-f", log, *ASKED)[1].split("\n"))
    assert json.loads(_run("-f", log, *ASKED, "--json")[1])["simulated"] is True


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--layout", "2 by 8"), "02x08"),
        (("--layout", "00x08"), "02x08"),
        (("--machine", "dgx9"), "dgx1-v100-16gb"),
        (("--program", "nccl"), "nccl-all-reduce"),
        (("-f", "gone.log"), "gone.log"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    """A layout, profile or transport that does not exist is refused by name."""
    with pytest.raises(Problem, match=named):
        _run("-f", _log(tmp_path, TABLE), *arguments)


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (("-f", "x.log", "--job", "nccl"), "--job is for the jobs of a stack"),
        (("-f", "x.log", "--wait", "0"), "--wait is for the jobs of a stack"),
        (("--layout", "02x08"), "--layout is for logs in files"),
        (("--figures",), "--figures is for logs in files"),
        (("--figures", "-f", "x.log", "--machine", "dgx-h100"), "--machine says what is judged"),
    ],
)
def test_options_of_files_and_of_a_stack_exclude_each_other(arguments: tuple[str, ...], refused: str) -> None:
    """An option that would change nothing is refused by name."""
    with pytest.raises(Problem, match=refused):
        _run(*arguments)


def test_a_program_of_a_stack_is_known_by_its_name(dev: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """--program names a program of the settings of --stack, whose metrics the log must have."""
    rate = {"name": "rate", "pattern": r"rate (\S+)", "at_least": 100}
    mine = Program.model_validate({**PROGRAMS["nccl-all-reduce"].model_dump(), "prints": (), "metrics": [rate]})
    settings = dev.settings.model_copy(update={"programs": {"detector": mine}})
    monkeypatch.setattr("toolkit.cli.shared.stack.read", lambda name, _: replace(dev, name=name, settings=settings))
    log = _log(tmp_path, "rate 120\n")
    assert _run("-f", log, "--stack", "team", "--program", "detector")[0] == 0
    assert _run("-f", _log(tmp_path, "rate 90\n", "slow.log"), "--stack", "team", "--program", "detector")[0] == 1
    with pytest.raises(Problem, match="detector"):
        _run("-f", log, "--stack", "team", "--program", "other")


def test_the_fabric_follows_from_the_machine() -> None:
    """Without --fabric, the fabric is that of the machine and the transport."""
    assert log_files.default_fabric(DGX1_V100_16GB, Transport.TCP) == "infiniband"
    assert log_files.default_fabric(DGX_A100, None) == "infiniband"
    assert log_files.default_fabric(None, Transport.GPUDIRECT) is None
    (ethernet, *_) = [one for one in PROFILES.values() if one.link_layer == "Ethernet"]
    assert log_files.default_fabric(ethernet, Transport.GPUDIRECT) == "roce"
    assert log_files.default_fabric(ethernet, Transport.TCP) == "ethernet"


@pytest.fixture
def judged(dev: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """Stack dev, whose cluster has one sound job."""
    monkeypatch.setattr(verify, "gather", lambda *_, **__: [CASES["gpudirect"].good.job()])
    return dev


def _of_stack(stack: Stack) -> int:
    return verify.of_stack(stack, None, wait=None, everything=False, plain=False)


def test_a_result_that_cannot_be_stored_is_reported_and_changes_no_verdict(
    judged: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result that cannot be stored is a warning, and the exit status stays that of the verdicts."""
    expected = _of_stack(judged)
    assert "warning" not in capsys.readouterr().err

    def full(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(verify, "store", full)
    assert _of_stack(judged) == expected
    printed = " ".join(capsys.readouterr().err.split())
    assert "warning: this result could not be stored" in printed
    assert "No locks available" in printed


def test_settings_that_are_newer_than_the_jobs_are_reported(
    judged: Stack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Settings that are newer than the last update are named in a warning, be they in the stack's file or in a base."""
    state = write_state(judged, "dev", [])
    files = tmp_path / "Pulumi.dev.yaml", tmp_path / "site.yaml"
    monkeypatch.setattr(Stack, "files", files)
    written = state.stat().st_mtime
    for file in files:
        file.touch()
        os.utime(file, (written - 1, written - 1))
    _of_stack(judged)
    assert "warning" not in capsys.readouterr().err
    for file in files:
        os.utime(file, (written + 1, written + 1))
        _of_stack(judged)
        assert has(capsys.readouterr().err, "warning", file.name, "last", "update")
        os.utime(file, (written - 1, written - 1))
