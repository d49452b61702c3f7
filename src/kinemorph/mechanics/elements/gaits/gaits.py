"""The laws of gaits that are functions of time; the others are in `phase_oscillators` and `coupled_maps`."""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.scalar import S
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import Wish, each
from kinemorph.mechanics.elements.control.references import swing
from kinemorph.mechanics.elements.gaits.coupled_maps import CoupledMapsLaw
from kinemorph.mechanics.elements.gaits.gait_law import GaitLaw
from kinemorph.mechanics.elements.gaits.phase_oscillators import PhaseOscillatorsLaw, phases_of, wave_problems
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import register
from kinemorph.model.elements.gaits.gaits import CoupledMaps, PhaseOscillators, Rhythmic, Serpenoid
from kinemorph.model.robot import Robot
from kinemorph.words import counted


class RhythmicLaw(GaitLaw):
    """A sinusoid for each joint, with its own phase."""

    fields = ("amplitude", "frequency", "offset")

    def problems(self, element: Rhythmic, robot: Robot) -> list[str]:
        return [*super().problems(element, robot), *wave_problems(element)]

    def path(self, element: Rhythmic, view: ElementView, k: int) -> Wish:
        amplitude, frequency, offset = self.one(element, view, k)
        phase = view.value(phases_of(element)[k])
        return self.ramped(element, view, k, swing(view.t, amplitude, frequency, offset, phase), offset)


class SerpenoidLaw(GaitLaw):
    """A wave that travels along a chain of joints, or two waves, of even and of odd joints."""

    def problems(self, element: Serpenoid, robot: Robot) -> list[str]:
        found = super().problems(element, robot)
        waves = 2 if element.layout == "alternating" else 1
        for name in ("amplitude", "turn"):
            values: tuple[Any, ...] = getattr(element, name)
            if len(values) not in (1, waves):
                either = "1 number" if waves == 1 else "1 number, or 2, one for each wave"
                given = counted(len(values), "number")
                problem = f"{name} has {given} and the layout is '{element.layout}'; expected {either}"
                found.append(wrong(element.name, problem, f"Give {either}.", name))
        return found

    def path(self, element: Any, view: ElementView, k: int) -> Wish:
        waves = 2 if element.layout == "alternating" else 1
        wave = k % waves
        amplitude, turn = (each(view.value(values), waves)[wave] for values in (element.amplitude, element.turn))
        phase: S = k * view.value(element.phase_step) + (view.value(element.shift) if wave else 0.0)
        wave_path = swing(view.t, amplitude, view.value(element.frequency), turn, phase)
        return self.ramped(element, view, k, wave_path, turn)


register(Rhythmic, RhythmicLaw())
register(Serpenoid, SerpenoidLaw())
register(PhaseOscillators, PhaseOscillatorsLaw())
register(CoupledMaps, CoupledMapsLaw())
