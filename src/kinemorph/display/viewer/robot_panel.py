"""The panel of a robot without a run: its configuration, and a slider for every joint.

A slider moves its own joint. Coupled joints follow, and where the robot has loops, the other joints move so that the
loops close again; where this is not possible, the joint stops before the slider's value and a message says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.close_loops import Closed, Closer
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.display.looks.postures import posture
from kinemorph.display.looks.quaternions import quaternions_of, without_jumps
from kinemorph.display.viewer.joint_sliders import DEGREE, METER, Knob, coordinates_of, knob_values, knobs_of
from kinemorph.display.viewer.nodes import Actor
from kinemorph.errors import ShapeError
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import neutral, random_configuration

ITERATIONS = 25  # to close loops while a user moves a slider; loops that can be closed take four or five
ATTEMPTS = 8  # to find a random configuration in which loops close
SIGNS = {DEGREE: "°", METER: "m"}
REACH = 1.5  # range of a prismatic or free joint in each direction, over the size of the robot


class Posture:
    """The configuration of one robot on the page, and its sliders.

    `said` is called with a sentence where a requested configuration is not possible.
    """

    def __init__(self, actor: Actor, said: Callable[[str], None]) -> None:
        self.actor, self._say = actor, said
        self.robot = actor.figure.robot
        self.name = actor.figure.name
        self.q = actor.figure.q[0].copy()
        if not self.robot.is_open:
            found = self._closed(self.q)
            self.q = found.q if found else self.q
            if not found:
                said(f"'{self.name}': {found.message}")
        self.start = self.q.copy()
        self._rng = np.random.default_rng(0)
        self.knobs = knobs_of(self.robot, self.q, REACH * actor.figure.size)
        self._sliders: list[Any] = []
        self._taken: list[float] = []  # the last slider values to which the robot was moved

    # ── configurations ────────────────────────────────────────────────────────────────────────────────────────────

    def set(self, q: npt.ArrayLike) -> None:
        """Sets the configuration (nq,), or some coordinates by name, without closing loops, and moves the sliders."""
        self._pose(posture(self.robot, q, self.q.tolist()))

    def turn(self, number: int, value: float, *, by_hand: bool = False) -> None:
        """Moves the coordinate of slider `number` to a value [deg] or [m]; coupled joints and loops follow.

        `by_hand` says that a user has moved the slider, so it need not be set.
        """
        knob = self.knobs[number]
        joint = self.robot.joint(knob.joint)
        mine = [i for i, other in enumerate(self.knobs) if other.joint == knob.joint]
        # roll, pitch and yaw come from the sliders: they are not unique at a pitch of 90 deg, or after a full turn
        shown = [float(self._sliders[i].value) if self._sliders else knob_values(self.robot, self.q)[i] for i in mine]
        shown[mine.index(number)] = value
        wished = self.q.copy()
        wished[self.robot.q_slice(joint.name)] = coordinates_of(joint, shown)
        found = self._followed(wished, joint.name)
        if not found:
            self._say(f"{knob.label} stops here: {found.message}")
        self._pose(found.q, keep=mine if found and by_hand else ())

    def to_zero(self) -> None:
        """Sets all coordinates to zero, or as near as loops and limits allow."""
        self._jump(neutral(self.robot), "zero")

    def to_start(self) -> None:
        """Sets the initial configuration."""
        self._pose(self.start)

    def to_random(self) -> None:
        """Sets random joint positions; free bodies stay where they are."""
        for _ in range(ATTEMPTS):
            q = random_configuration(self.robot, self._rng)
            for joint in self.robot.joints:
                if joint.kind in ("free", "planar"):
                    at = self.robot.q_slice(joint.name)
                    q[at] = self.q[at]
            found = self._closed(q)
            if found:
                self._pose(found.q)
                return
        self._say("no random configuration with closed loops was found. Try again.")

    def _jump(self, q: Array, what: str) -> None:
        found = self._closed(q)
        if not found:
            self._say(f"{what} is not reached: {found.message}")
        else:
            self._pose(found.q)

    # ── loops and couplings ───────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _closer(self) -> Closer:
        lower, upper = self.robot.q_lower, self.robot.q_upper
        inside = bool(np.all((lower <= self.q) & (self.q <= upper)))  # else it would jump into its limits
        return Closer(self.robot, limits=inside, tolerance=1e-10, iterations=ITERATIONS)

    def _closed(self, q: Array) -> Closed:
        if self.robot.loops:
            return self._closer.close(q)
        return Closed(Ranges(self.robot, False, ()).inside(q), 0.0, 0, True, "")

    def _followed(self, q: Array, joint: str) -> Closed:
        return self._closer.follow(self.q, q, joint) if self.robot.loops else self._closed(q)

    # ── bodies and sliders ────────────────────────────────────────────────────────────────────────────────────────

    def _pose(self, q: Array, keep: Any = ()) -> None:
        self.actor.move(*self._bodies(q))
        self.q = q
        for number, (slider, value) in enumerate(zip(self._sliders, knob_values(self.robot, q), strict=False)):
            if number not in keep:
                self._put(slider, value)
                self._taken[number] = slider.value

    def _bodies(self, q: Array) -> tuple[Array, Array]:
        """Positions (n_b, 3) [m] and unit quaternions (n_b, 4) wxyz of all bodies in the configuration q (nq,)."""
        if not np.isfinite(q).all():
            name = self.robot.q_names[int(np.argmin(np.isfinite(q)))]
            raise ShapeError(f"q: coordinate '{name}' is not finite; expected finite numbers.")
        poses = forward_kinematics(self._tree, self._tree.all_joints(q.tolist()).q, self.robot.body_names)
        R = np.array([pose.R for pose in poses], dtype=float).reshape(-1, 3, 3)
        positions = np.array([pose.p for pose in poses], dtype=float).reshape(-1, 3)
        return positions, without_jumps(quaternions_of(R)[None])[0]

    @cached_property
    def _tree(self) -> Tree:
        return resolve(self.robot)

    @staticmethod
    def _put(slider: Any, value: float) -> None:
        """Sets a slider to a value, and widens its range where the value lies outside."""
        if value < slider.min:
            slider.min = value
        if value > slider.max:
            slider.max = value
        slider.value = value

    def build(self, gui: Any, guarded: Callable[[Callable[[Any], None]], Callable[[Any], None]]) -> None:
        """Adds the sliders and buttons to the page; `guarded` wraps their event handlers."""
        buttons = gui.add_button_group("Pose", ("zero", "reset", "random"))
        moves = {"zero": self.to_zero, "reset": self.to_start, "random": self.to_random}
        buttons.on_click(guarded(lambda event: moves[buttons.value]()))
        for number, (knob, value) in enumerate(zip(self.knobs, knob_values(self.robot, self.q), strict=True)):
            self._sliders.append(self._slider(gui, guarded, number, knob, value))

    def _slider(self, gui: Any, guarded: Any, number: int, knob: Knob, value: float) -> Any:
        word = knob.label.replace("_joint", "").replace("_", " ")
        slider = gui.add_slider(
            f"{word} {SIGNS[knob.unit]}",
            min=knob.lower,
            max=knob.upper,
            step=knob.step,
            initial_value=knob.lower,
            disabled=knob.follows,
            hint=f"follows '{self._leader(knob.joint)}'" if knob.follows else knob.label,
        )
        slider.value = float(value)  # with all digits; the page shows the first ones
        self._taken.append(slider.value)

        def moved(event: Any) -> None:
            # if a slider moved several times meanwhile, only its last value counts
            if event.client is None or slider.value == self._taken[number]:
                return
            self._taken[number] = slider.value
            self.turn(number, float(slider.value), by_hand=True)

        slider.on_update(guarded(moved))
        return slider

    def _leader(self, joint: str) -> str:
        return next(coupling.leader for coupling in self.robot.couplings if coupling.joint == joint)
