"""The names of the functions that a derived robot offers, as `kinemorph derive` lists them."""

from __future__ import annotations

STATE_FUNCTIONS = (
    "mass_matrix",
    "inverse_dynamics",
    "forward_dynamics",
    "bias_forces",
    "coriolis_matrix",
    "gravity_forces",
    "energy",
    "forward_kinematics",
    "center_of_mass",
    "centroidal_matrix",
    "momentum",
    "configuration_rate",
)
DERIVATIVE_FUNCTIONS = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
FRAME_FUNCTIONS = ("pose", "jacobian", "jacobian_rate")  # of one frame or body each
BODY_FUNCTIONS = (  # of joints, links, bodies
    "joint_wrenches",
    "block_matrices",
    "coordinate_sets",
    "regressor",
    "regressor_entries",
    "momentum_regressor",
    "energy_regressor",
    "wrench_regressor",
    "motion",
    "partial_velocities",
)
CONSTRAINT_FUNCTIONS = (  # of robots with closed chains or coupled joints
    "constraint_error",
    "constraint_jacobian",
    "constraint_bias",
    "constraint_forces",
    "multiplier_wrenches",
)
REDUCED_FUNCTIONS = (  # of `Reduction`
    "fast_dynamics",
    "reduced_dynamics",
    "perturbed_dynamics",
    "reduced_mass_matrix",
    "reduced_coriolis_matrix",
    "reduced_gravity_forces",
    "reduced_regressor",
    "reduced_momentum_regressor",
    "input_map",
    "velocity_map",
    "velocity_map_rate",
    "closure_error",
    "independent_jacobian",
    "dependent_jacobian",
    "stacked_jacobian",
)
IMPACT_FUNCTION = "impact"  # of one or more frames
FUNCTIONS = (
    *STATE_FUNCTIONS,
    *DERIVATIVE_FUNCTIONS,
    *BODY_FUNCTIONS,
    *CONSTRAINT_FUNCTIONS,
    "actuation",
    IMPACT_FUNCTION,
    *REDUCED_FUNCTIONS,
    *FRAME_FUNCTIONS,
)
MASS_FUNCTIONS = frozenset((  # functions of the masses, which a robot without masses does not have
    *(name for name in STATE_FUNCTIONS if name not in ("forward_kinematics", "configuration_rate")),
    *DERIVATIVE_FUNCTIONS,
    "unrolled_mass_matrix",
    "joint_wrenches",
    "block_matrices",
    "coordinate_sets",
    "constraint_forces",
    "actuation",
    IMPACT_FUNCTION,
    "fast_dynamics",
    "reduced_dynamics",
    "perturbed_dynamics",
    "reduced_mass_matrix",
    "reduced_coriolis_matrix",
    "reduced_gravity_forces",
))  # fmt: skip
MAIN_FUNCTIONS = ("mass_matrix", "bias_forces", "inverse_dynamics", "forward_dynamics")
