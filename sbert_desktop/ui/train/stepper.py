"""Where a person stands on the way from judging to adopting: numbered steps in the page's head."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QLayout, QSizePolicy, QToolButton, QWidget

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_focus, plain_tip

DOT, GAP, LINE = 20, 8, 24


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``goal``: reached by what is done in the step before, never gone to."""

    key: str
    title: str
    goal: bool = False


class _StepButton(KeyboardFocus, QToolButton):
    """A dot with a number, or a check once it is done, and a word."""

    def __init__(self, step: Step, number: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.step, self._number = step, number
        self.state = "later"
        self.short = False
        self.why = ""
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if not step.goal else Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.set_role(self, "meta_medium")
        name(self, f"train_step_{step.key}", step.title)

    def show_state(self, state: str, why: str) -> None:
        """Shows it as ``done``, ``current`` or ``later``; ``why`` it can't be gone to."""
        self.state, self.why = state, why
        self.setEnabled(not why and not self.step.goal)
        said = {"done": "done", "current": "current step", "later": ""}[state]
        head = f"{self._number}. {self.step.title}"
        self.setAccessibleName(f"{head}, {said}" if said else head)
        self.setAccessibleDescription(why)
        self.setToolTip(plain_tip(why or (self.step.title if self.short else "")))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        word = theme.metrics("meta_strong").horizontalAdvance(self.step.title) + GAP if self._worded() else 0
        return QSize(DOT + word + 8, theme.height(28, role="meta", padding=8))

    minimumSizeHint = sizeHint

    def _worded(self) -> bool:
        return not self.short or self.state == "current"

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        dot = QRectF(4, (self.height() - DOT) / 2, DOT, DOT)
        hover = self.underMouse() and self.isEnabled()
        fills = {"done": "good_soft", "current": "accent", "later": "hover" if hover else "surface"}
        painter.setBrush(theme.color(fills[self.state]))
        edge = "muted" if hover else "border"
        painter.setPen(QPen(theme.color(edge), 1) if self.state == "later" else Qt.PenStyle.NoPen)
        painter.drawEllipse(dot.adjusted(0.5, 0.5, -0.5, -0.5) if self.state == "later" else dot)
        if self.state == "done":
            icons.paint(painter, "check", dot.toRect().adjusted(4, 4, -4, -4), "good")
        else:
            painter.setFont(theme.font("key"))
            painter.setPen(theme.color("on_accent" if self.state == "current" else "muted"))
            painter.drawText(dot, Qt.AlignmentFlag.AlignCenter, str(self._number))
        if self._worded():
            strong = self.state == "current"
            painter.setFont(theme.font("meta_strong" if strong else "meta"))
            painter.setPen(theme.color("text" if strong or hover else "muted"))
            painter.drawText(QRect(4 + DOT + GAP, 0, self.width(), self.height()), Qt.AlignmentFlag.AlignVCenter,
                             self.step.title)
        if self.shows_focus():
            paint_focus(painter, self.rect())


class _Link(QWidget):
    """The line between two steps."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedWidth(LINE)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(QRect(0, self.height() // 2, self.width(), 1), theme.color("border"))


class Stepper(QWidget):
    """``chosen(key)`` when the person goes to a step. In a narrow head only the current step keeps its word."""

    chosen = Signal(str)

    def __init__(self, steps: tuple[Step, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_steps", "Steps")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # the page must be able to become narrow
        self.buttons: dict[str, _StepButton] = {}
        self._short = False
        self._row = row
        for number, step in enumerate(steps, start=1):
            if number > 1:
                row.addWidget(_Link(self))
            button = _StepButton(step, number, self)
            button.clicked.connect(lambda _=False, key=step.key: self.chosen.emit(key))
            row.addWidget(button)
            self.buttons[step.key] = button
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_steps(self, current: str, done: set[str], blocked: dict[str, str]) -> None:
        """Shows where the person stands; ``blocked``: why a step can't be gone to yet."""
        for key, button in self.buttons.items():
            state = "current" if key == current else "done" if key in done else "later"
            button.show_state(state, blocked.get(key, ""))
        self.updateGeometry()

    def fit(self, room: int) -> None:
        """Leaves the words away where they have no room."""
        self._short_all(False)
        if self._row.sizeHint().width() > room:
            self._short_all(True)
        self._row.activate()

    def _short_all(self, short: bool) -> None:
        for button in self.buttons.values():
            button.short = short
            button.updateGeometry()
        self._row.invalidate()

    def minimumSizeHint(self) -> QSize:
        links = (len(self.buttons) - 1) * (LINE + 8)
        word = max((theme.metrics("meta_strong").horizontalAdvance(button.step.title) for button in
                    self.buttons.values()), default=0)
        return QSize(links + len(self.buttons) * (DOT + 8) + GAP + word, self._row.sizeHint().height())
