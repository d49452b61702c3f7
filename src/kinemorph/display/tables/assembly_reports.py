"""Assemblies as plain data and as tables: modules, dockings, and the robot that the modules make up."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from kinemorph.algebra.rotations import log_so3
from kinemorph.algebra.vectors import norm
from kinemorph.display.faces.grid import Data, Facts, Parts, grid_of
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import System


def assembly_summary(system: System) -> Data:
    """The assembly of a system as data: its modules, its dockings and the sizes of its robot."""
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


def assembly_lines(data: Data) -> Parts:
    """The data of `assembly_summary` as tables for a terminal."""
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
    parts: Parts = [Facts(summary)]
    if data["dockings"]:
        turned, jointed, apart = (any(row[key] for row in data["dockings"]) for key in ("turn", "joint", "apart"))
        columns: dict[str, Any] = {"module": "{a}", "side": "{side_a}", "docked to": "{b}", "its side": "{side_b}"}
        columns |= {"quarter turns": "{turn}"} if turned else {}
        columns |= {"joint": lambda row: row["joint"] or ""} if jointed else {}
        if apart or any(row["turned"] for row in data["dockings"]):
            columns["apart [mm]"] = lambda row: f"{1e3 * row['apart']:.3f}"
            columns["turned [deg]"] = lambda row: f"{math.degrees(row['turned']):.3f}"
        parts.append(grid_of("", data["dockings"], columns, ("side", "its side", *tuple(columns)[4:])))
    return parts
