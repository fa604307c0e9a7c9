"""The side of a comparison: checks that open their detail, what adopting means, and the actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import ComparisonView, GuardView
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, KeyboardFocus, Label, name, paint_focus, plain_tip

MORE: Final = {
    "general": "Looked at with pairs of everyday sentences that come with the program. A model that falls behind here "
               "has unlearned more than your texts can teach it.",
    "collapse": "Looked at with sentences that have nothing to do with each other. If they come close, everything "
                "looks alike, and no search can tell texts apart.",
    "neighbours": "Looked at with the nearest sentences of the general set. If hardly any are the same ones, what you "
                  "are used to find will move.",
}  # fmt: skip
"""What a check looks at, by its code."""
LOOKS: Final = {"passed": ("check", "good", "passed"), "warns": ("warning", "warn", "take care"),
                "stops": ("not_relevant", "danger", "failed")}  # fmt: skip
INDENT: Final = 30


class CheckRow(KeyboardFocus, QAbstractButton):
    """One check: a row of 48 with icon, title and sentence; pressed, it shows all that is known."""

    def __init__(self, guard: GuardView, at: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.guard = guard
        self._look = LOOKS["passed" if guard.passed else "stops" if guard.severity == "stops" else "warns"]
        self.setCheckable(True)
        self.setChecked(not guard.passed and guard.severity == "stops")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        name(self, f"train_guard_{at}", f"{guard.title}: {self._look[2]}. {guard.sentence}")
        self.setToolTip(plain_tip(guard.sentence))
        self.toggled.connect(lambda _: self._fit())
        theme.themeChanged.connect(self._fit)
        self._fit()

    def detail(self) -> str:
        """Gives what an open row says below its sentence."""
        return MORE.get(self.guard.code, "")

    def _closed_text(self) -> str:
        return self.guard.brief or self.guard.sentence

    def _room(self) -> int:
        return max(40, self.width() - INDENT - 20)

    def _wrapped(self, text: str) -> int:
        metrics = QFontMetrics(theme.font("meta"))
        box = metrics.boundingRect(QRect(0, 0, self._room(), 10_000), int(Qt.TextFlag.TextWordWrap), text)
        return box.height()

    def _title_height(self) -> int:
        metrics = QFontMetrics(theme.font("medium"))
        box = metrics.boundingRect(QRect(0, 0, self._room(), 10_000), int(Qt.TextFlag.TextWordWrap), self.guard.title)
        return max(box.height(), theme.line("medium", 18))

    def _fit(self) -> None:
        closed = self._title_height() + theme.line("meta", 16) + 13
        height = max(48, -(-closed // 4) * 4)
        if self.isChecked():
            more = self._wrapped(self.detail()) + 6 if self.detail() else 0
            height = self._title_height() + self._wrapped(self.guard.sentence) + more + 17
        self.setFixedHeight(height)
        self.setAccessibleDescription(self.detail() if self.isChecked() else "Press to see what was looked at")
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self._fit()

    def sizeHint(self) -> QSize:
        return QSize(240, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        icon, tone, _ = self._look
        painter.fillRect(QRect(0, self.height() - 1, self.width(), 1), theme.color("border"))
        title, meta = self._title_height(), theme.line("meta", 16)
        top = 6 if self.isChecked() else max(4, (self.height() - 1 - title - meta) // 2)
        side = 18
        middle = top + 10 if self.isChecked() else self.height() // 2
        icons.paint(painter, icon, QRect(0, middle - side // 2, side, side), tone)
        painter.setFont(theme.font("medium"))
        painter.setPen(theme.color("danger" if tone == "danger" else "text"))
        wrap = int(Qt.TextFlag.TextWordWrap)
        painter.drawText(QRect(INDENT, top, self._room(), title), wrap, self.guard.title)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        below = top + title
        if self.isChecked():
            tall = self._wrapped(self.guard.sentence)
            painter.drawText(QRect(INDENT, below, self._room(), tall), wrap, self.guard.sentence)
            painter.drawText(QRect(INDENT, below + tall + 6, self._room(), self.height()), wrap, self.detail())
        else:
            text = painter.fontMetrics().elidedText(self._closed_text(), Qt.TextElideMode.ElideRight, self._room())
            painter.drawText(QRect(INDENT, below, self._room(), meta), Qt.AlignmentFlag.AlignVCenter, text)
        cut = QFontMetrics(theme.font("meta")).horizontalAdvance(self._closed_text()) > self._room()
        if self.isChecked() or cut or self.underMouse() or self.shows_focus():
            icons.paint(painter, "up" if self.isChecked() else "chevron",
                        QRect(self.width() - 16, middle - 7, 14, 14), "muted")
        if self.shows_focus():
            paint_focus(painter, self.rect().adjusted(0, 1, 0, -1))


class Fact(QWidget):
    """An icon and a sentence that wraps."""

    def __init__(self, icon: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = icon
        row = QHBoxLayout(self)
        row.setContentsMargins(24, self._above(), 0, self._above())
        self.label = Label(text, wrap=True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(self.label)

    @staticmethod
    def _above() -> int:
        return (theme.line("body", 20) - theme.line("body")) // 2

    def paintEvent(self, event: QPaintEvent) -> None:
        tall = theme.line("body", 20)
        icons.paint(QPainter(self), self._icon, QRect(0, (tall - 16) // 2, 16, 16), "muted")


def adoption_facts(view: ComparisonView) -> tuple[tuple[str, str], ...]:
    """Gives what adopting means: an icon and a sentence each."""
    if view.kind == "cross-encoder":
        return (("refresh", "No text is read anew: it looks a second time at the first hits of a search."),
                ("search", "Search uses it at once."),
                ("undo", f"You can go back at any time, under Models.{_needs(view)}"))
    if not view.passages:
        return (("refresh", "No text is read anew: its vectors are kept in this library."),
                ("search", "Search uses it at once."),
                ("undo", "You can go back at any time, at once."))
    about = f", about {words.duration(60 * view.minutes)}" if view.minutes else ""
    return (("refresh", f"{words.counted(view.passages, 'passage')} {'is' if view.passages == 1 else 'are'} read anew "
                        f"in the background{about}."),
            ("search", f"Until then search keeps using {view.base_name}."),
            ("undo", f"You can go back at any time, at once.{_needs(view)}"))


def _needs(view: ComparisonView) -> str:
    return f" Needs {words.size(view.bytes)}." if view.bytes else ""


class ChecksPart(QWidget):
    """The checks, and what adopting means."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_compare_checks", "Checks")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(Label("Checks", role="section"))
        self._column.addSpacing(8)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        self._column.addLayout(self._rows)
        self.adoption = QWidget()
        name(self.adoption, "train_compare_adoption", "If you adopt it")
        below = QVBoxLayout(self.adoption)
        below.setContentsMargins(0, 24, 0, 0)
        below.setSpacing(8)
        below.addWidget(Label("If you adopt it", role="section"))
        self._facts = QVBoxLayout()
        self._facts.setSpacing(8)
        below.addLayout(self._facts)
        self._column.addWidget(self.adoption)
        self.rows: tuple[CheckRow, ...] = ()
        self.facts: tuple[tuple[str, str], ...] = ()

    def show_comparison(self, view: ComparisonView) -> None:
        """Shows the checks of a comparison; those that failed stand first."""
        _empty(self._rows)
        self.rows = tuple(CheckRow(guard, at, self) for at, guard in enumerate(_in_order(view.guards)))
        for row in self.rows:
            self._rows.addWidget(row)
            row.show()  # at once, or Tab would pass it by until the next turn
        if not self.rows:
            self._rows.addWidget(Label("The tuned model was not looked at on general text.", tone="warn", wrap=True))
        self.show_adoption(view)

    def show_adoption(self, view: ComparisonView) -> None:
        """Shows what adopting means as things are now: the vectors may be kept from an earlier time."""
        if (facts := adoption_facts(view)) == self.facts:
            return
        self.facts = facts
        _empty(self._facts)
        for icon, text in facts:
            self._facts.addWidget(Fact(icon, text))


def _in_order(guards: Sequence[GuardView]) -> list[GuardView]:
    return sorted(guards, key=lambda guard: guard.passed or guard.severity != "stops")


def _empty(column: QVBoxLayout) -> None:
    while column.count():
        item = column.takeAt(0)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()


class Actions(QWidget):
    """Adopt, keep for later, discard; above them why it may not be adopted, or what became of it."""

    adoptWanted = Signal()
    keepWanted = Signal()
    discardWanted = Signal()
    backWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_compare_actions", "What to do with the tuned model")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.reason = Label("", role="meta", wrap=True, object_name="train_compare_reason")
        self.reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.primary = Button("Adopt", kind="primary", size="large", object_name="train_adopt")
        self.plain = Button("Adopt", size="large", object_name="train_adopt_anyway")
        self.keep = Button("Keep for later", size="large", object_name="train_keep",
                           tip="Keeps it among your models without using it")
        self.discard = Button("Discard", size="large", icon="trash", object_name="train_discard",
                              tip="Removes it; what you judged stays")
        self.back = Button("Go back", size="large", icon="undo", object_name="train_go_back")
        column.addWidget(self.reason)
        self._line = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._line.setSpacing(8)
        column.addLayout(self._line)
        for button in (self.primary, self.plain, self.back):
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            self._line.addWidget(button, 1)
        self.primary.clicked.connect(self.adoptWanted)
        self.plain.clicked.connect(self.adoptWanted)
        self.back.clicked.connect(self.backWanted)
        row = QHBoxLayout()
        row.setSpacing(8)
        for button in (self.keep, self.discard):
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            row.addWidget(button, 1)
        self._line.addLayout(row, 1)
        self.keep.clicked.connect(self.keepWanted)
        self.discard.clicked.connect(self.discardWanted)

    def set_in_line(self, in_line: bool) -> None:
        """Puts all buttons into one line, or Adopt above the others."""
        self._line.setDirection(QBoxLayout.Direction.LeftToRight if in_line else QBoxLayout.Direction.TopToBottom)

    def show_state(self, view: ComparisonView, state: str, *, may_adopt: bool, primary: bool, reason: str,
                   busy: bool = False, back: str = "", stays: bool = False) -> None:
        """Shows what can be done in a state of the training.

        ``back``: the model that an adoption can be taken back to, "" for none; ``stays``: it is in use still.
        """
        adopted, gone = state == "adopted", state == "discarded"
        self.back.setVisible(adopted and bool(back))
        self.back.setText(f"Stay with {back}" if stays else f"Go back to {back}")
        tip = f"Stops preparing {view.name}, which is kept for later" if stays else \
            f"Searches answer as before, at once; {view.name} is kept for later"
        self.back.setToolTip(plain_tip(tip))
        self.back.setAccessibleDescription(tip)
        self.back.setEnabled(not busy)
        self.primary.setVisible(primary and self.back.isHidden())
        self.plain.setVisible(not primary and self.back.isHidden())
        for button in (self.primary, self.plain):
            button.setText("Adopted" if adopted else f"Adopt {view.name}")
            button.setEnabled(may_adopt and not adopted and not gone and not busy)
        for button in (self.keep, self.discard):
            button.setVisible(not adopted)  # its model has vectors in the library: Models removes both
        self.keep.setText("Kept" if state == "kept" else "Keep for later")
        self.keep.setEnabled(state not in ("kept", "adopted", "discarded") and view.measured and not busy)
        self.discard.setEnabled(not adopted and not gone and not busy)
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        theme.set_tone(self.reason, "muted" if adopted or state == "kept" else "warn")

    def adopt_button(self) -> Button:
        """Gives the button that is shown."""
        return self.plain if self.primary.isHidden() else self.primary
