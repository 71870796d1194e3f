"""Commands of a stack on a real cluster run without the simulator."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from werkzeug.wrappers import Request, Response

from tests.support.http_server import as_json, kubeconfig, serving
from tests.support.lab import checkout
from tests.support.recorded import ROOT
from tests.support.stack_settings import in_one

pytestmark = pytest.mark.engine

COMMANDS = (
    *(("check", "--stack", "lab"), ("pulumi", "--stack", "lab", "--print-env"), ("status", "--stack", "lab")),
    *(
        ("diff", "--stack", "lab"),
        ("drift", "--stack", "lab"),
        ("state", "adopt", "--stack", "lab"),
        ("up", "--stack", "lab"),
    ),
    *(("state", "check", "--stack", "lab"), ("verify", "--stack", "lab"), ("init", "other", "--kubeconfig", "FILE")),
    ("verify", "-f", "LOG"),
)
_RUN = """
import json, sys
from toolkit.cli.app import main
statuses = {}
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["hpc", *arguments]
    try:
        main()
    except SystemExit as left:
        statuses[" ".join(arguments)] = left.code
loaded = sorted(name for name in sys.modules if name.startswith(("toolkit.simulator", "toolkit.cli.shared.simulated")))
print(json.dumps([statuses, loaded]))
"""


def _answer(request: Request) -> Response:
    """Answer as an API server with the kinds that every cluster has, and one namespace."""
    if request.path == "/api/v1/namespaces/kube-system":
        metadata = {"name": "kube-system", "uid": "8c5a2f70-3f4b-4f7e-9c1d-5b0a6f1e2d3c"}
        return as_json({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    if request.path == "/version":
        return as_json({"major": "1", "minor": "33", "gitVersion": "v1.33.0"})
    return as_json({"apiVersion": "v1", "kind": "Status", "code": 404, "reason": "NotFound"}, 404)


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Path]:
    """Give a checkout whose stack lab is on a real cluster, a stub, with its state in a folder."""
    (tmp_path / "backend").mkdir()
    with checkout(tmp_path / "root") as lab, serving(_answer) as port:
        content = in_one(lab.root / "Pulumi.dev.yaml")
        content["config"]["hpc:platform"] |= {
            "cluster": {
                "kubeconfig": str(kubeconfig(tmp_path, port)),
                "context": "lab",
                "identifier": "lab",
                "offline_provider": True,
            },
            "state": {"backend": (tmp_path / "backend").as_uri()},
        }
        (lab.root / "Pulumi.lab.yaml").write_text(yaml.safe_dump(content))
        (lab.root / "LOG").write_text("# Out of bounds values : 0 OK\n")
        yield lab.root


def test_commands_on_a_real_cluster_import_no_simulator(real: Path) -> None:
    """No command of a stack on a real cluster imports the simulator, or what knows it, however far it gets."""
    outer = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))}
    own = {
        "PULUMI_HOME": str(real.parent / "home"),
        "PULUMI_CONFIG_PASSPHRASE": (ROOT / "stacks/dev.passphrase").read_text().strip(),
    }
    commands = [
        [word.replace("FILE", str(real.parent.parent / "kubeconfig")) for word in words]
        for words in [("state", "init", "--stack", "lab"), *COMMANDS]
    ]
    done = subprocess.run(
        [sys.executable, "-c", _RUN, json.dumps(commands)],
        cwd=real,
        env={**outer, **own},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    statuses, loaded = json.loads(done.stdout.splitlines()[-1])
    assert loaded == [], done.stdout + done.stderr
    assert len(statuses) == len(commands)
    assert (statuses["status --stack lab"], statuses["diff --stack lab"]) == (0, 0), done.stdout + done.stderr
