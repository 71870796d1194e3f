"""`./hpc data status`: caches over real HTTPS, from a server of the test's own that answers as the GUI does."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from werkzeug.wrappers import Request, Response

from tests.support.commands import finished
from tests.support.http_server import as_json, serving
from toolkit.cli.data import scale_access, status
from toolkit.cli.data.scale_gui import Cache, ScaleGui, ScaleGuiError
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.simulator.access import pki

USER, PASSWORD = "monitor", "s3cret"
STATES = "/scalemgmt/v2/filesystems/ess3000_4M/afm/state"
QUOTAS = "/scalemgmt/v2/filesystems/ess3000_4M/quotas"
HEALTHY = {
    "filesystemName": "ess3000_4M",
    "filesetName": "a2d2_cos",
    "filesetTarget": "https://map:443/a2d2",
    "cacheState": "Active",
    "gatewayNodeName": "gw1",
    "queueLength": "3",
}
QUOTA = {"objectName": "a2d2_cos", "quotaType": "FILESET", "blockUsage": 1 << 20, "blockQuota": 1 << 21}


class Gui:
    """A GUI with one account; `answers` has what it answers by path, and `calls` what it was asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.answers: dict[str, tuple[int, Any]] = {
            STATES: (200, {"filesetAfmStateList": [HEALTHY]}),
            QUOTAS: (200, {"quotas": [QUOTA]}),
        }
        self.client: ScaleGui

    def respond(self, request: Request) -> Response:
        """Answer a request."""
        self.calls.append(request.environ["RAW_URI"])
        code, content = self.answers.get(request.path, (404, {"status": {"code": 404, "message": "not found"}}))
        if request.headers["Authorization"] != "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode():
            code, content = 401, {"status": {"code": 401, "message": "unauthorized"}}
        if isinstance(content, list):  # pages
            content = content[int(request.args.get("lastId", "0"))]
        return Response(content, code) if isinstance(content, str) else as_json(content, code)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> pki.Pki:
    """Return a CA with the certificate of a server."""
    return pki.create(tmp_path_factory.mktemp("keys"), "gui")


@pytest.fixture
def gui(keys: pki.Pki) -> Iterator[Gui]:
    """Run a GUI."""
    running = Gui()
    with serving(running.respond, keys) as port:
        running.client = ScaleGui(f"localhost:{port}", USER, PASSWORD, str(keys.ca))
        yield running


def test_the_calls_and_their_fields(gui: Gui) -> None:
    """State and quota of each cache are read by two GETs; numbers may be texts, and quotas are in KiB."""
    (found,) = gui.client.caches("ess3000_4M")
    assert found == Cache("a2d2_cos", "https://map:443/a2d2", "Active", "gw1", 3, 1 << 30, 1 << 31, None)
    assert gui.calls == [f"{QUOTAS}?fields=%3Aall%3A", f"{STATES}?fields=%3Aall%3A"]


def test_lists_in_pages(gui: Gui) -> None:
    """The next page is asked for by its position, on the same host whatever the link names."""
    other = HEALTHY | {"filesetName": "a2d2_nfs"}
    link = {"next": f"https://elsewhere.example.com{STATES}?lastId=1"}
    gui.answers[STATES] = (200, [{"filesetAfmStateList": [other], "paging": link}, {"filesetAfmStateList": [HEALTHY]}])
    names = [(each.fileset, each.soft) for each in gui.client.caches("ess3000_4M")]
    assert names == [("a2d2_cos", 1 << 31), ("a2d2_nfs", None)]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            (400, {"status": {"code": 400, "message": "Invalid value in 'filesystemName'"}}),
            "with 400: Invalid value in",
        ),
        ((403, {"status": {"code": 403, "message": "no right"}}), "with 403: no right; give the account a role"),
        ((500, f"trace with {PASSWORD}"), r"with 500: trace with \.\.\.; ask again"),
        ((200, {"other": []}), "without quotas; see its version"),
        ((200, "<html>"), "with 200: <html>; ask again"),
    ],
)
def test_what_the_gui_says_is_shown(gui: Gui, answer: tuple[int, Any], message: str) -> None:
    """Its message is shown with a remedy, and never the password."""
    gui.answers[QUOTAS] = answer
    with pytest.raises(ScaleGuiError, match=message) as error:
        gui.client.caches("ess3000_4M")
    assert PASSWORD not in str(error.value)


def test_a_wrong_account_and_a_foreign_certificate(gui: Gui, keys: pki.Pki) -> None:
    """A refused account, a certificate of another CA, and a host that does not answer are named."""
    host = gui.client.host
    with pytest.raises(ScaleGuiError, match="with 401: unauthorized; correct the account"):
        ScaleGui(host, USER, "other", str(keys.ca)).caches("ess3000_4M")
    with pytest.raises(ScaleGuiError, match="its certificate is not trusted"):
        ScaleGui(host, USER, PASSWORD).caches("ess3000_4M")
    with pytest.raises(ScaleGuiError, match="cannot be reached"):
        ScaleGui("localhost:1", USER, PASSWORD).caches("ess3000_4M")
    assert PASSWORD not in repr(gui.client)


@pytest.fixture
def shown(gui: Gui, monkeypatch: pytest.MonkeyPatch) -> Gui:
    """Show the GUI of the test in place of the stack's."""

    @contextmanager
    def client(_: object) -> Iterator[ScaleGui]:
        yield gui.client

    monkeypatch.setattr(scale_access, "gui", client)
    return gui


def test_caches_are_shown_and_judged(shown: Gui) -> None:
    """A cache has its state and usage in a row; one that is cut off from its home gives exit status 1."""
    code, text = finished(status.command, "--stack", "redpaper-4.4")
    assert code == 0
    assert "Active" in text
    assert "2.0" in text
    shown.answers[STATES] = (200, {"filesetAfmStateList": [HEALTHY | {"cacheState": "Disconnected"}]})
    code, text = finished(status.command, "--stack", "redpaper-4.4", "--json")
    assert code == 1
    assert "a2d2_cos is not healthy: Disconnected, its gateway node does not reach the home" in text
    assert '"healthy": false' in text


def test_the_gui_is_that_of_the_storage_cluster(monkeypatch: pytest.MonkeyPatch, keys: pki.Pki) -> None:
    """Host and CA are those of the settings, the account is in variables, and without storage there is nothing."""
    stack = stacks.read("redpaper-4.4")
    for name in (scale_access.USER, scale_access.PASSWORD):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(Problem, match=r"account of .* is not given"), scale_access.gui(stack):
        pass
    for name in (scale_access.USER, scale_access.PASSWORD):
        monkeypatch.setenv(name, "x")
    storage = stack.settings.storage
    assert storage is not None
    pem = Path(keys.ca).read_text().strip()
    with scale_access.gui(_changed(stack, storage.model_copy(update={"ca_certificate": pem}))) as found:
        assert found.ca is not None
        assert Path(found.ca).read_text().strip() == pem
    with pytest.raises(Problem, match="no Spectrum Scale"), scale_access.gui(_changed(stack, None)):
        pass


def _changed(stack: Stack, storage: object) -> Stack:
    return Stack(stack.name, stack.settings.model_copy(update={"storage": storage}))


@pytest.mark.parametrize(("sent", "shown"), [("16217308676014575381", "16217308676014575381"), ("1.6e19", None)])
def test_the_id_of_a_cluster_keeps_its_digits(gui: Gui, sent: str, shown: str | None) -> None:
    """It is beyond what a float holds exactly, and one that comes as a float is refused."""
    gui.answers["/scalemgmt/v2/cluster"] = (200, f'{{"cluster": {{"clusterSummary": {{"clusterId": {sent}}}}}}}')
    if shown:
        assert gui.client.cluster_id() == shown
    else:
        with pytest.raises(ScaleGuiError, match="without a whole clusterId"):
            gui.client.cluster_id()


def test_the_next_gui_is_asked_where_the_first_cannot_be_reached(gui: Gui, keys: pki.Pki) -> None:
    """The one that answers stays the first."""
    client = ScaleGui("localhost:1", USER, PASSWORD, str(keys.ca), (gui.client.host,))
    assert len(client.caches("ess3000_4M")) == 1
    assert (client.host, client.others) == (gui.client.host, ("localhost:1",))
    nowhere = ScaleGui("localhost:1", USER, PASSWORD, str(keys.ca), ("localhost:2",))
    with pytest.raises(ScaleGuiError, match="localhost:1, localhost:2 cannot be reached"):
        nowhere.caches("ess3000_4M")


def test_each_state_says_whether_data_can_be_had() -> None:
    """States that IBM calls healthy are, and one that is not known is not."""
    healthy = {name for name in status.STATES if status.meaning(name).healthy}
    assert healthy == {"Inactive", "FlushOnly", "Active", "Dirty", "Recovery", "QueueOnly"}
    assert not status.meaning("Sleeping").healthy
