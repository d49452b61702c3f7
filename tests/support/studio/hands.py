"""Two ways to use the studio's page: by clicks, and by keys alone. Both find controls by role and accessible name.

A test is written once, with the verbs that both have: `press`, `write`, `choose`, `tick`, `place`. `Keys` never touches
the mouse: it goes from control to control with Tab, and by arrow keys within tabs, trees, radio buttons and the grid.
"""

from __future__ import annotations

import re
import time
from typing import Any

PATIENCE = 60_000  # until a page shows what is expected, on a busy machine [ms]
WORDS = {">": "right", "^": "up", "<": "left", "v": "down"}

# how many stops of Tab a control is away: 0 if it has the focus, else the direction; "group" where arrow keys lead on
WHERE = """(target) => {
  const active = document.activeElement, group = target.closest(
    '[role=tablist], [role=tree], [role=radiogroup], [role=grid]');
  if (active === target) return 'here';
  if (group && group.contains(active)) return 'group';
  if (active === document.body) return 'after';
  return active.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING ? 'after' : 'before';
}"""
# where a control is in its group of radio buttons, tabs or tree items, relative to the one with the focus
STEPS = """(target) => {
  const role = target.getAttribute('role');
  const all = [...target.closest('[role=tablist], [role=tree], [role=radiogroup]').querySelectorAll(`[role=${role}]`)]
    .filter((one) => one.checkVisibility());
  return all.indexOf(target) - all.indexOf(document.activeElement);
}"""
COUNT_EVENTS = """() => {
  window.handled = { pointer: 0, keys: 0 };
  document.addEventListener('pointerdown', (event) => { if (event.isTrusted) window.handled.pointer += 1; }, true);
  document.addEventListener('keydown', (event) => { if (event.isTrusted) window.handled.keys += 1; }, true);
}"""


class Hand:
    """A user of a page. `events()` counts what the browser has seen of mouse and keyboard."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.set_default_timeout(PATIENCE)
        page.evaluate(COUNT_EVENTS)

    def events(self) -> dict[str, int]:
        """How often a pointer and a key were pressed on the page."""
        found: dict[str, int] = self.page.evaluate("() => window.handled")
        return found

    def control(self, role: str, name: str | re.Pattern[str]) -> Any:
        """The control with a role and a name; while a dialog is open, the one in it."""
        dialog = self.page.get_by_role("dialog")
        within = dialog if dialog.count() else self.page
        return within.get_by_role(role, name=name, exact=isinstance(name, str))

    def entry(self, name: str) -> Any:
        """The entry with a name; one that offers names of parts is a combobox."""
        return self.control("textbox", name).or_(self.control("combobox", name))

    def cell(self, row: int, column: int) -> Any:
        """A cell of the topology grid."""
        return self.page.get_by_role("gridcell", name=f"Row {row}, column {column}:")

    def saved(self, what: str = "saved") -> None:
        """Waits until the page says that everything is saved and without mistakes."""
        self.page.get_by_label("Saved", exact=True).filter(has_text=re.compile(f"^{what}$")).wait_for()


class Clicks(Hand):
    """Uses the mouse; the keyboard only for texts that are entered."""

    def press(self, role: str, name: str | re.Pattern[str]) -> None:
        """Presses a button, a tab, a link or a radio button."""
        self.control(role, name).click()

    def write(self, name: str, text: str) -> None:
        """Enters a text and leaves the entry."""
        entry = self.entry(name)
        entry.fill(text)
        entry.blur()

    def choose(self, name: str, option: str) -> None:
        """Chooses from a list, by the first words of the option."""
        box = self.control("combobox", name)
        box.select_option(label=next(text for text in options_of(box) if text.startswith(option)))

    def tick(self, name: str) -> None:
        """Ticks a box."""
        self.control("checkbox", name).click()

    def place(self, place: tuple[int, int], front: str) -> None:
        """Puts a Backbone into a cell of the grid."""
        self.press("radio", f"Front {WORDS[front]}")
        self.cell(*place).click()


class Keys(Hand):
    """Uses the keyboard alone."""

    def go(self, target: Any) -> None:
        """Moves the focus to a control: with Tab to its group, then with arrow keys."""
        target.wait_for(state="attached")
        end = time.monotonic() + PATIENCE / 1000
        while (where := target.evaluate(WHERE)) != "here":
            assert time.monotonic() < end, f"{target} was not reached by keys"
            if where == "group":
                steps = target.evaluate(STEPS)
                for _ in range(abs(steps)):
                    self.page.keyboard.press("ArrowDown" if steps > 0 else "ArrowUp")
            else:
                self.page.keyboard.press("Tab" if where == "after" else "Shift+Tab")

    def press(self, role: str, name: str | re.Pattern[str]) -> None:
        """Presses a button, a tab, a link or a radio button."""
        target = self.control(role, name)
        self.go(target)
        if role != "radio":
            self.page.keyboard.press("Enter")

    def write(self, name: str, text: str) -> None:
        """Enters a text and confirms it."""
        self.go(self.entry(name))
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def choose(self, name: str, option: str) -> None:
        """Chooses from a list, with arrow keys."""
        box = self.control("combobox", name)
        self.go(box)
        wanted = next(k for k, text in enumerate(options_of(box)) if text.startswith(option))
        steps = wanted - box.evaluate("(one) => one.selectedIndex")
        for _ in range(abs(steps)):
            self.page.keyboard.press("ArrowDown" if steps > 0 else "ArrowUp")
        assert box.evaluate("(one) => one.selectedIndex") == wanted

    def tick(self, name: str) -> None:
        """Ticks a box."""
        self.go(self.control("checkbox", name))
        self.page.keyboard.press("Space")

    def place(self, place: tuple[int, int], front: str) -> None:
        """Puts a Backbone into a cell of the grid: arrows, the sign of the front, the letter of the kind."""
        target = self.cell(*place)
        if target.evaluate(WHERE) != "group":
            self.go(self.page.get_by_role("gridcell", name=re.compile("^Row 3, column 3:")))
        here = self.page.evaluate("() => document.activeElement.getAttribute('aria-label')")
        at = [int(number) for number in re.findall(r"\d+", here)[:2]]
        for k, (plus, minus) in enumerate((("ArrowDown", "ArrowUp"), ("ArrowRight", "ArrowLeft"))):
            for _ in range(abs(place[k] - at[k])):
                self.page.keyboard.press(plus if place[k] > at[k] else minus)
        self.page.keyboard.press(front)
        self.page.keyboard.press("Shift+B")


def options_of(box: Any) -> list[str]:
    """The texts of all options of a list."""
    found: list[str] = box.evaluate("(one) => [...one.options].map((option) => option.text)")
    return found
