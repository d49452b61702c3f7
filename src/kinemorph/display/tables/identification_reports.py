"""Identified parameters as plain data, as tables, and as a report in Markdown or HTML."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from kinemorph.analysis.identification.identified import Identified, Prediction
from kinemorph.display.faces.grid import Data, Facts, Grid, Parts, grid_of
from kinemorph.words import counted, listed

STYLE = (
    "body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#22262b}"
    "table{border-collapse:collapse;margin:1rem 0;font-size:.85rem}caption{text-align:left;font-weight:600}"
    "td,th{padding:.1rem .7rem .1rem 0;text-align:left;border-bottom:1px solid #e4e8ec}img{max-width:100%}"
)
Cell = str | Callable[[Data], str]
WORDS = {
    "ordinary": "ordinary least squares",
    "weighted": "weighted least squares",
    "robust": "robust least squares",
    "total": "total least squares",
    "instrumental": "instrumental variables",
}


def identified_summary(result: Identified) -> Data:
    """An identification as data: parameters with intervals and shares, base parameters, residuals, predictions."""
    errors, times = result.errors, result.correlation_times
    return {
        "robot": result.robot.name,
        "method": result.method,
        "prior": result.prior,
        "confidence": result.confidence,
        "error": result.error,
        "channels": [
            {
                "channel": channel.name,
                "rows": channel.rows,
                "error": errors[channel.name],
                "deviation": result.deviations[channel.name],
                "correlation_time": times[channel.name],
            }
            for channel in result.information.channels
        ],
        "parameters": [
            {
                "parameter": name,
                "value": float(value),
                "lower": result.intervals[name][0],
                "upper": result.intervals[name][1],
                "model": float(nominal),
                "data_share": float(share),
            }
            for name, value, nominal, share in zip(
                result.columns, result.theta, result.nominal, result.shares, strict=True
            )
        ],
        "base_parameters": [
            {
                "combination": name,
                "value": float(value),
                "lower": float(low),
                "upper": float(high),
                "data_share": float(share),
            }
            for name, value, (low, high), share in zip(
                result.base.names, result.base_values, result.base_intervals, result.base_shares, strict=True
            )
        ],
        "undetermined": list(result.undetermined),
        "validation": [_prediction(one) for one in result.validation],
        "notes": list(result.notes),
    }


def _prediction(one: Prediction) -> Data:
    return {"recording": one.name, "samples": len(one.t), "error": one.error, "errors": one.errors}


def identified_tables(data: Data) -> Parts:
    """The tables of the command `identify`, from the data of `identified_summary`."""
    parts: Parts = [_facts(data), _channels(data)]
    if data["validation"]:
        parts.append(_validation(data))
    parts.append(_parameters(data))
    return parts


def _facts(data: Data) -> Facts:
    told: list[tuple[str, object]] = [
        ("robot", data["robot"]),
        ("method", f"{WORDS.get(data['method'], data['method'])}, prior weight {data['prior']:g}"),
        ("error", f"{_percent(data['error'])} of the norm of all measured forces"),
        ("seen by forces", f"{counted(len(data['base_parameters']), 'combination')} of {len(data['parameters'])}"),
    ]
    if data["undetermined"]:
        told.append(("determined by the model", listed(data["undetermined"], 6)))
    return Facts([*told, *(("note", note) for note in data["notes"])])


def _channels(data: Data) -> Grid:
    columns: dict[str, Cell] = {
        "channel": "{channel}",
        "rows": "{rows}",
        "error": lambda row: _percent(row["error"]),
        "deviation [N m, N]": "{deviation:.4g}",
        "correlation [samples]": "{correlation_time:.1f}",
    }
    return grid_of("residuals", data["channels"], columns, right=list(columns)[1:])


def _validation(data: Data) -> Grid:
    every = data["validation"]
    rows = [[name, *(_percent(one["errors"][name]) for one in every)] for name in every[0]["errors"]]
    rows.append(["all", *(_percent(one["error"]) for one in every)])
    columns = ("channel", *(one["recording"] for one in every))
    title = "recordings that were not used: error of the predicted forces"
    return Grid(title, columns, rows, right=columns[1:], feet=1)


def _parameters(data: Data) -> Grid:
    percent = f"{100.0 * data['confidence']:g} %"
    columns: dict[str, Cell] = {
        "parameter": "{parameter}",
        "value": "{value:.5g}",
        f"{percent} from": "{lower:.4g}",
        "to": "{upper:.4g}",
        "model": "{model:.5g}",
        "data": lambda row: f"{100.0 * row['data_share']:.0f} %",
    }
    return grid_of("parameters in SI units", data["parameters"], columns, right=list(columns)[1:])


def _base(data: Data) -> Grid:
    columns: dict[str, Cell] = {
        "base parameter": "{combination}",
        "value": "{value:.5g}",
        "from": "{lower:.4g}",
        "to": "{upper:.4g}",
        "data": lambda row: f"{100.0 * row['data_share']:.0f} %",
    }
    title = "base parameters: all that forces show"
    return grid_of(title, data["base_parameters"], columns, right=list(columns)[1:])


def _percent(share: float) -> str:
    return f"{100.0 * share:.2f} %"


def _grids(data: Data) -> list[Grid]:
    return [_channels(data), *([_validation(data)] if data["validation"] else []), _parameters(data), _base(data)]


def markdown_report(data: Data, pictures: Sequence[Path]) -> str:
    """The report in Markdown, with pictures by the names of their files, which lie beside it."""
    lines = [f"# Identified: {data['robot']}", ""]
    lines += [f"* {what}: {value}" for what, value in _facts(data).rows]
    lines += ["", *(f"![{path.stem}]({path.name})\n" for path in pictures)]
    return "\n".join([*lines, *(grid.markdown() for grid in _grids(data))]) + "\n"


def html_report(data: Data, pictures: Mapping[str, bytes]) -> str:
    """The report as an HTML page that needs no other file; `pictures` are PNG files by title."""
    facts = "".join(f"<li>{escape(what)}: {escape(str(value))}</li>" for what, value in _facts(data).rows)
    shown = "".join(
        f'<p><img alt="{escape(title)}" src="data:image/png;base64,{base64.b64encode(image).decode()}"/></p>'
        for title, image in pictures.items()
    )
    title = f"Identified: {escape(data['robot'])}"
    body = f"<h1>{title}</h1><ul>{facts}</ul>{shown}{''.join(grid.html() for grid in _grids(data))}"
    head = f'<meta charset="utf-8"/><title>{title}</title><style>{STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'
