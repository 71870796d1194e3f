"""Dashboards as files of Grafana."""

import json
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from components.monitoring.dashboards import GPUS, INFINIBAND, TENANTS, Dashboard
from components.monitoring.grafana_files import text


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Source(_Strict):
    type: Literal["prometheus"]
    uid: Literal["${datasource}"]


class _Target(_Strict):
    ref_id: str = Field(alias="refId", pattern="^[A-Z]$")
    expr: str = Field(min_length=1)
    legend: str = Field(alias="legendFormat")
    datasource: _Source
    format: Literal["table"] | None = None
    instant: Literal[True] | None = None


class _Grid(_Strict):
    x: int = Field(ge=0, lt=24)
    y: int = Field(ge=0)
    w: int = Field(gt=0, le=24)
    h: int = Field(gt=0)


class _Defaults(_Strict):
    unit: Literal["percentunit", "bytes", "Bps", "short"]
    min: Literal[0]


class _FieldConfig(_Strict):
    defaults: _Defaults
    overrides: list[None] = Field(max_length=0)


class _Placed(_Strict):
    id: int = Field(gt=0)
    title: str = Field(min_length=1)
    grid: _Grid = Field(alias="gridPos")


class _Row(_Placed):
    type: Literal["row"]
    collapsed: Literal[False]


class _Panel(_Placed):
    type: Literal["timeseries", "stat", "table"]
    datasource: _Source
    config: _FieldConfig = Field(alias="fieldConfig")
    targets: list[_Target] = Field(min_length=1)


class _Variable(_Strict):
    name: Literal["datasource"]
    type: Literal["datasource"]
    query: Literal["prometheus"]


class _Templating(_Strict):
    list: tuple[_Variable] = Field(strict=False)


class _Time(_Strict):
    start: str = Field(alias="from")
    end: str = Field(alias="to")


class _Page(_Strict):
    """What of Grafana's dashboard schema is used (kinds/dashboard/dashboard_kind.cue of Grafana 11)."""

    uid: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    title: str = Field(min_length=1)
    tags: list[str]
    schema_version: int = Field(alias="schemaVersion", ge=36)
    editable: bool
    time: _Time
    refresh: str = Field(pattern=r"^\d+[smh]$")
    templating: _Templating
    panels: list[Annotated[_Row | _Panel, Field(discriminator="type")]] = Field(min_length=1)


PAGES = pytest.mark.parametrize("dashboard", [GPUS, INFINIBAND, TENANTS], ids=lambda each: each.title)


def page(dashboard: Dashboard) -> _Page:
    """Return the file as Grafana's schema reads it."""
    return _Page.model_validate_json(text(dashboard, "hpc-x"))


@PAGES
def test_files_have_grafana_s_schema(dashboard: Dashboard) -> None:
    """Each field is one of Grafana's, no kind of panel is one that it took away, and no id is there twice."""
    ids = [each.id for each in page(dashboard).panels]
    assert len(ids) == len({*ids})


@PAGES
def test_every_series_of_the_console_is_there(dashboard: Dashboard) -> None:
    """Both forms show the same expressions in the same order."""
    wanted = [each.expression for row in dashboard.rows for panel in row.panels for each in panel.series]
    panels = [each for each in page(dashboard).panels if isinstance(each, _Panel)]
    assert [target.expr for panel in panels for target in panel.targets] == wanted


@PAGES
def test_panels_do_not_cover_each_other(dashboard: Dashboard) -> None:
    """No cell of the grid belongs to two panels, and none lies outside of its 24 columns."""
    cells = [
        (column, line)
        for each in page(dashboard).panels
        for column in range(each.grid.x, each.grid.x + each.grid.w)
        for line in range(each.grid.y, each.grid.y + each.grid.h)
    ]
    assert len(cells) == len({*cells})
    assert max(column for column, _ in cells) < 24


def test_the_schema_refuses_what_grafana_would() -> None:
    """The model of these tests can fail: a kind of the console's form is refused."""
    wrong = json.loads(text(GPUS, "hpc-gpus"))
    wrong["panels"][1]["type"] = "singlestat"
    with pytest.raises(ValueError, match="singlestat"):
        _Page.model_validate_json(json.dumps(wrong))
