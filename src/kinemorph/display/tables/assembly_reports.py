"""Assemblies as plain data and as tables: modules, what is docked to what, and the robot that they make up."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from kinemorph.algebra.rotations import log_so3
from kinemorph.algebra.vectors import norm
from kinemorph.display.tables.summaries import Data
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import System

if TYPE_CHECKING:
    from rich.console import RenderableType


def assembly_summary(system: System) -> Data:
    """The assembly of a system as data for JSON."""
    assembly, robot = system.assembly, system.robot
    assert assembly is not None
    poses = assembly.poses()
    return {
        "assembly": assembly.name,
        "base": assembly.base,
        "organisms": [list(organism) for organism in assembly.organisms],
        "tree": assembly.is_tree,
        "modules": [
            {
                "name": module.name,
                "type": module.type.name,
                "letter": module.type.letter,
                "position": [float(x) for x in poses[module.name].p],
                "free_sides": list(assembly.free_sides(module.name)),
            }
            for module in assembly.modules
        ],
        "dockings": [
            {
                "a": docking.a,
                "side_a": docking.side_a,
                "b": docking.b,
                "side_b": docking.side_b,
                "turn": docking.turn,
                "joint": None if docking.joint is None else docking.joint.kind,
                "apart": float(norm(docking.offset.p)),
                "turned": float(norm(log_so3(docking.offset.R))),
            }
            for docking in assembly.dockings
        ],
        "robot": {
            "bodies": len(robot.bodies),
            "dof": robot.nv,
            "joints": sum(joint.nv > 0 for joint in robot.joints),
            "loops": len(robot.loops),
            "mass": sum(float(evaluate(body.mass)) for body in robot.bodies),
        },
    }


def assembly_lines(data: Data) -> list[RenderableType]:
    """The same as tables for a terminal."""
    from kinemorph.display.tables.terminal import pairs, plain_table

    kinds = Counter(f"{row['letter']} ({row['type']})" for row in data["modules"])
    groups = data["organisms"]
    robot = data["robot"]
    loops = f", {robot['loops']} loops" if robot["loops"] else ""
    summary = [
        ("assembly", data["assembly"]),
        ("modules", f"{len(data['modules'])}: " + ", ".join(f"{n} {kind}" for kind, n in kinds.items())),
        ("dockings", f"{len(data['dockings'])}, {'a tree' if data['tree'] else 'with rings'}"),
        ("organisms", str(len(groups)) if len(groups) == 1 else "; ".join(" ".join(group) for group in groups)),
        ("base", data["base"]),
        ("robot", f"{robot['bodies']} bodies, {robot['dof']} dof{loops}, {robot['mass']:.4g} kg"),
    ]
    parts: list[RenderableType] = [pairs(summary)]
    if data["dockings"]:
        turned = any(row["turn"] for row in data["dockings"])
        jointed = any(row["joint"] for row in data["dockings"])
        shifted = any(row["apart"] or row["turned"] for row in data["dockings"])
        columns = ["module", "side", "docked to", "its side"]
        columns += ["quarter turns"] * turned + ["joint"] * jointed + ["apart [mm]", "turned [deg]"] * shifted
        rows = [
            [
                *map(str, (row["a"], row["side_a"], row["b"], row["side_b"])),
                *([str(row["turn"])] if turned else []),
                *([row["joint"] or ""] if jointed else []),
                *([f"{1e3 * row['apart']:.3f}", f"{math.degrees(row['turned']):.3f}"] if shifted else []),
            ]
            for row in data["dockings"]
        ]
        parts.append(plain_table("", columns, rows, ("side", "its side", *columns[4:])))
    return parts
