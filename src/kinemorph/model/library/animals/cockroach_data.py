"""All numbers of the cockroach in one table, in cgs units, each with its source or marked as assumed.

The paper of Nelson & Quinn, whose model this is, gives the structure of the animal and no numbers for it. `TABLE` has
the numbers of the model; most of them are assumptions, a consistent set for an adult Blaberus discoidalis. `MEASURED`
has figures of real animals and of the paper, with which results are compared.

`number` and `parameter` give a row in SI units. Legs come in pairs, so that a row such as "front_coxa_length" holds for
front_left and front_right. x is forward, y left and z up; "out" is away from the middle plane.
"""

from __future__ import annotations

from typing import NamedTuple

from kinemorph.model.parameter import Parameter
from kinemorph.model.units import read_quantity


class Row(NamedTuple):
    """One number: its name, its value in the given cgs unit, and where it comes from."""

    name: str
    value: float
    unit: str
    source: str


PAIRS = ("front", "middle", "hind")
SEGMENTS = ("coxa", "femur", "tibia")

ASSUMED = "assumed"
TUNED = "assumed, tuned for the speed of the gait and the impulses of the paper"
SIZE = "assumed, from 5 body lengths/s at 19.5 cm/s (Goldman 2006) and 35 to 45 mm of adults"
MASS = "assumed, between 2.5 g (papers on lateral leg springs) and 3.1 g (Full 1995)"
SOLIDS = "assumed, so that all solids have 2.24 g, their center at the origin and the size of the box"
PAPER = "Nelson & Quinn"


def _pairs(
    name: str, unit: str, rows: tuple[tuple[float, ...], ...], columns: tuple[str, ...], source: str = ASSUMED
) -> tuple[Row, ...]:
    """Rows for the three pairs of legs: one line of numbers for each pair, one number for each of the columns."""
    return tuple(
        Row(f"{pair}_{column}{name}", value, unit, source)
        for pair, values in zip(PAIRS, rows, strict=True)
        for column, value in zip(columns, values, strict=True)
    )


def _solid(name: str, mass: float, center: float, *radii: float) -> tuple[Row, ...]:
    """Rows of an ellipsoid of the trunk: mass [g], x of its center [cm], and three radii [cm]."""
    sizes = (Row(f"{name}_radius_{axis}", radius, "cm", SOLIDS) for axis, radius in zip("xyz", radii, strict=True))
    return Row(f"{name}_mass", mass, "g", SOLIDS), Row(f"{name}_x", center, "cm", SOLIDS), *sizes


TABLE: tuple[Row, ...] = (
    # ── the trunk ─────────────────────────────────────────────────────────────────────────────────────────────────────
    Row("body_mass", 2.24, "g", MASS),
    Row("body_length", 3.9, "cm", SIZE),
    Row("body_width", 1.5, "cm", ASSUMED),
    Row("body_height", 0.65, "cm", ASSUMED),
    *_solid("head", 0.14, 1.65, 0.30, 0.40, 0.25),
    *_solid("prothorax", 0.50, 0.95, 0.45, 0.72, 0.30),
    *_solid("mesothorax", 0.40, 0.42, 0.35, 0.75, 0.325),
    *_solid("metathorax", 0.40, -0.085, 0.35, 0.75, 0.325),
    *_solid("abdomen", 0.80, -1.05, 0.90, 0.72, 0.325),
    # ── legs: segments, and body-coxa joints ──────────────────────────────────────────────────────────────────────────
    *_pairs("_length", "cm", ((0.60, 0.62, 0.52), (0.72, 0.78, 0.78), (0.80, 0.92, 1.12)), SEGMENTS),
    *_pairs("_mass", "g", ((0.024, 0.012, 0.004), (0.034, 0.018, 0.007), (0.044, 0.026, 0.011)), SEGMENTS),
    *_pairs("", "cm", ((0.75, 0.32, -0.15), (0.25, 0.38, -0.15), (-0.25, 0.36, -0.15)), ("hip_x", "hip_out", "hip_z")),
    Row("coxa_radius_y", 0.17, "cm", ASSUMED),
    Row("coxa_radius_z", 0.13, "cm", ASSUMED),
    Row("femur_radius", 0.05, "cm", ASSUMED),
    Row("tibia_radius", 0.03, "cm", ASSUMED),
    # ── the stance: feet relative to the middle of the body, height of the body, slope of the coxae ───────────────────
    Row("stance_height", 0.75, "cm", ASSUMED),
    *_pairs("", "cm", ((1.50, 1.20), (0.05, 1.80), (-1.55, 1.60)), ("foot_x", "foot_out")),
    *_pairs("", "deg", ((50.0,), (40.0,), (35.0,)), ("coxa_depression",)),
    # ── ground and controller ─────────────────────────────────────────────────────────────────────────────────────────
    Row("ground_stiffness", 5e4, "dyn/cm", ASSUMED),
    Row("ground_lateral_stiffness", 2e4, "dyn/cm", ASSUMED),
    Row("ground_damping", 30.0, "dyn s/cm", ASSUMED),
    Row("ground_depth", 0.0085, "cm", "a sixth of the weight, 425 dyn, divided by the stiffness of the ground"),
    Row("static_friction", 0.8, "1", ASSUMED),
    Row("kinetic_friction", 0.6, "1", ASSUMED),
    Row("posture_stiffness", 3e4, "dyn cm/rad", "assumed: errors of about half a degree while the animal stands"),
    Row("posture_damping", 60.0, "dyn cm s/rad", "assumed: 2 ms times the stiffness"),
    # ── options ───────────────────────────────────────────────────────────────────────────────────────────────────────
    *_pairs("_length", "cm", ((0.30,), (0.36,), (0.44,)), ("tarsus",)),
    *_pairs("_mass", "g", ((0.0010,), (0.0012,), (0.0016,)), ("tarsus",)),
    Row("tarsus_radius", 0.02, "cm", ASSUMED),
    Row("tarsus_stiffness", 5e3, "dyn cm/rad", ASSUMED),
    Row("tarsus_damping", 10.0, "dyn cm s/rad", ASSUMED),
    Row("passive_stiffness", 500.0, "dyn cm/rad", ASSUMED),
    Row("passive_damping", 8.0, "dyn cm s/rad", "assumed: 16 ms times the stiffness (16 to 46 ms, Dudek & Full 2007)"),
    Row("neck_x", 1.38, "cm", "assumed: where head and prothorax meet"),
    Row("waist_x", -0.30, "cm", "assumed: where metathorax and abdomen meet"),
    Row("trunk_stiffness", 2e4, "dyn cm/rad", ASSUMED),
    Row("trunk_damping", 100.0, "dyn cm s/rad", ASSUMED),
    # ── the gait ──────────────────────────────────────────────────────────────────────────────────────────────────────
    Row("gait_speed", 21.0, "cm/s", "Kram 1997"),
    Row("gait_frequency", 6.8, "Hz", "2.63e3 Hz/kg times the mass, from the powers and energies of Kram 1997"),
    Row("gait_duty", 0.55, "1", ASSUMED),
    Row("gait_foot_excursion", 1.7, "cm", "speed times duration of stance"),
    # found by batches of some thousand runs, see docs/cockroach.md
    Row("running_height", 0.66, "cm", TUNED),
    Row("running_lift", 0.47, "cm", TUNED),
    Row("running_dip", 0.43, "1", TUNED),
    *_pairs("", "cm", ((1.20, 0.915), (0.115, 1.64), (-1.60, 1.15)), ("running_foot_x", "running_foot_out"), TUNED),
    *_pairs("", "cm", ((0.036, 0.060), (0.077, 0.0), (0.049, -0.045)), ("running_press", "running_spread"), TUNED),
    Row("running_stiffness", 1.41e4, "dyn cm/rad", TUNED),
    Row("running_damping", 70.0, "dyn cm s/rad", TUNED),
)

MEASURED: tuple[Row, ...] = (
    Row("front_impulse", -48.1, "g cm/s", PAPER),
    Row("middle_impulse", -0.4, "g cm/s", PAPER),
    Row("hind_impulse", 49.8, "g cm/s", PAPER),
    Row("greatest_stride_frequency", 13.0, "Hz", "Full & Tu 1990, at 0.35 m/s"),
    Row("cost_of_transport", 0.9, "J/kg/m", "Full & Tu 1990, mechanical, of the center of mass"),
    Row("limb_energy", 8.0, "uJ", "Kram 1997, kinetic, per stride"),
    Row("limb_power", 21.0, "mW/kg", "Kram 1997"),
    Row("limb_share", 0.13, "1", "Kram 1997, limb energy divided by external energy"),
    Row("greatest_rotation", 7.0, "deg", "Kram 1997"),
    Row("pitch_energy", 1.7, "uJ", "Kram 1997, per stride"),
    Row("yaw_energy", 0.5, "uJ", "Kram 1997, per stride"),
    Row("roll_energy", 0.4, "uJ", "Kram 1997, per stride"),
    Row("lateral_share", 0.5, "1", "Full & Tu 1990, lateral divided by vertical fluctuation, at most"),
    Row("leg_stiffness", 15.0, "N/m", "Spence 2010, virtual leg at 37.2 cm/s"),
    Row("vertical_acceleration", 11.5, "m/s^2", "Spence 2010, peak to peak, at 37.2 cm/s"),
    Row("step_frequency", 24.5, "Hz", "Spence 2010, at 37.2 cm/s"),
)

# Table 1 of Nelson & Quinn, front legs: average position error [deg] and effort, the sum of squared torques. The paper
# gives no unit of the effort; (mN cm)^2 has the magnitude of the weight at a lever of 1 cm (E004-13).
STANDING: tuple[tuple[float, float], ...] = (
    (0.001, 41.7),
    (0.015, 27.5),
    (0.084, 21.0),
    (0.230, 21.6),
    (0.525, 22.7),
    (0.962, 25.1),
)

_ROWS = {row.name: row for row in (*TABLE, *MEASURED)}


def parameter(name: str) -> Parameter:
    """The row of this name as a parameter in SI units."""
    row = _ROWS[name]
    value, unit = read_quantity(f"{row.value!r} {row.unit}") if row.unit != "1" else (row.value, "")
    return Parameter(name, value, unit)


def number(name: str) -> float:
    """The value of the row of this name, in SI units."""
    return parameter(name).value
