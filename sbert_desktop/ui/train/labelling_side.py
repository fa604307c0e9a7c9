"""Beside the pairs: how far it is to enough, how both answers stand, the last judgements."""

from __future__ import annotations

from statistics import median
from typing import Final

from PySide6.QtCore import QEasingCurve, QPoint, QRect, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import LabelRow, LabelsView, Task
from sbert_desktop.ui import icons
from sbert_desktop.ui import words as general
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.words import TASKS, balance_of, done_of, row_title, to_go, verdict_look, verdict_words
from sbert_desktop.ui.widgets import (
    Button,
    ElidedLabel,
    IconButton,
    Label,
    Line,
    Panel,
    name,
    paint_box,
    paint_focus,
    plain_tip,
)

WIDTH: Final = 304
MOST_ROWS: Final = 8
LONGEST: Final = 60.0
"""Seconds after which a pause is a pause and not a pace."""
FEWEST: Final = 20
"""Judgements from which one may go on although they are not enough."""


class Ring(QWidget):
    """A ring that fills up, with a number in it; begins at 12 o'clock."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_ring", "Progress")
        self._number, self._below, self._share = "0", "", 0.0
        self._move = QVariantAnimation(self)
        self._move.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._move.valueChanged.connect(self._on_moved)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_numbers(self, done: int, needed: int, units: str) -> None:
        """Shows ``64`` over ``of 120 pairs``."""
        self._number, self._below = general.count(done), f"of {general.count(needed)} {units}"
        self.setAccessibleName(f"{self._number} {self._below}")
        share = min(1.0, done / needed) if needed else 0.0
        self._move.stop()
        if theme.duration(180) and self.isVisible():
            self._move.setDuration(theme.duration(180))
            self._move.setStartValue(self._share)
            self._move.setEndValue(share)
            self._move.start()
        else:
            self._share = share
        self.updateGeometry()
        self.update()

    def show_nothing(self) -> None:
        """Shows the ring alone: nothing is known yet."""
        self._move.stop()
        self._number, self._below, self._share = "", "", 0.0
        self.setAccessibleName("Not counted yet")
        self.updateGeometry()
        self.update()

    def _on_moved(self, share: object) -> None:
        self._share = float(share)  # type: ignore[arg-type]
        self.update()

    def sizeHint(self) -> QSize:
        side = max(136, theme.metrics("meta").horizontalAdvance(self._below) + 44)
        return QSize(side, side)

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(6, 6, -6, -6)
        painter.setPen(QPen(theme.color("track"), 8))
        painter.drawEllipse(box)
        if self._share > 0:
            done = self._share >= 1
            painter.setPen(QPen(theme.color("good" if done else "accent"), 8, Qt.PenStyle.SolidLine,
                                Qt.PenCapStyle.RoundCap))
            painter.drawArc(box, 90 * 16, -round(360 * 16 * self._share))
        high, low = theme.line("ring"), theme.line("meta")
        top = (self.height() - high - low) // 2
        painter.setFont(theme.numbers_font("ring"))
        painter.setPen(theme.color("text"))
        painter.drawText(QRect(0, top, self.width(), high), Qt.AlignmentFlag.AlignCenter, self._number)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(QRect(0, top + high, self.width(), low), Qt.AlignmentFlag.AlignCenter, self._below)


class BalanceBar(QWidget):
    """How many say the one, how many the other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_balance", "Balance")
        self._ends: tuple[tuple[str, int], tuple[str, int]] = (("", 0), ("", 0))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_ends(self, first: tuple[str, int], second: tuple[str, int]) -> None:
        """Shows both counts."""
        self._ends = (first, second)
        self.setAccessibleName(f"{first[1]} {first[0]}, {second[1]} {second[0]}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(256, theme.line("meta") + 8 + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        high, width = theme.line("meta"), self.width()
        for (word, number), right in zip(self._ends, (False, True), strict=True):
            self._paint_words(painter, general.count(number), f" {word}", right, high)
        y, first, total = high + 8, self._ends[0][1], self._ends[0][1] + self._ends[1][1]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("track"))
        if not total:
            painter.drawRoundedRect(QRectF(0, y, width, 6), 2, 2)
            return
        cut = round((width - 2) * first / total) if 0 < first < total else (width if first else 0)
        if cut:
            painter.setBrush(theme.color("accent"))
            painter.drawRoundedRect(QRectF(0, y, cut, 6), 2, 2)
        if first < total:
            painter.setBrush(theme.color("muted"))
            left = cut + 2 if cut else 0
            painter.drawRoundedRect(QRectF(left, y, width - left, 6), 2, 2)

    def _paint_words(self, painter: QPainter, number: str, word: str, right: bool, high: int) -> None:
        strong, plain = theme.metrics("meta_strong"), theme.metrics("meta")
        x = self.width() - strong.horizontalAdvance(number) - plain.horizontalAdvance(word) if right else 0
        painter.setFont(theme.font("meta_strong"))
        painter.setPen(theme.color("text"))
        painter.drawText(QRect(x, 0, self.width(), high), Qt.AlignmentFlag.AlignVCenter, number)
        x += strong.horizontalAdvance(number)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(QRect(x, 0, self.width(), high), Qt.AlignmentFlag.AlignVCenter, word)


class _VerdictButton(IconButton):
    """The sign of a verdict; a grade is written."""

    def __init__(self, object_name: str) -> None:
        super().__init__("check", "Change", object_name=object_name, size=24, icon_size=14)
        self._tone, self._grade = "good", ""

    def show_verdict(self, verdict: str, title: str) -> None:
        """Shows a verdict."""
        self._tone, icon = verdict_look(verdict)
        self._icon = icon
        self._grade = "" if icon else verdict
        said = f"{verdict_words(verdict)}: change it"
        self.setAccessibleName(f"{title}: {said}")
        self.setToolTip(plain_tip(said))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.underMouse() or self.isDown():
            paint_box(painter, self.rect(), "selected" if self.isDown() else "hover", None)
        if self._grade:
            painter.setFont(theme.font("meta_strong"))
            painter.setPen(theme.color(self._tone))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._grade)
        else:
            box = QRect(0, 0, 14, 14)
            box.moveCenter(self.rect().center())
            icons.paint(painter, self._icon, box, self._tone)
        if self.shows_focus():
            paint_focus(painter, self.rect())


class RecentRow(QWidget):
    """One of the last judgements: its sign (changes it), its documents, taking it back."""

    changeWanted = Signal(object, QPoint)
    undoWanted = Signal(object)

    def __init__(self, at: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"train_recent_{at}")
        self.row: LabelRow | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(4)
        self.sign = _VerdictButton(f"train_recent_{at}_change")
        self.text = ElidedLabel(role="meta", object_name=f"train_recent_{at}_text")
        self.undo = IconButton("undo", "Take back", object_name=f"train_recent_{at}_undo", size=24, icon_size=16)
        for button in (self.sign, self.undo):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys with the pairs
        line.addWidget(self.sign)
        line.addWidget(self.text, 1)
        line.addWidget(self.undo)
        column.addLayout(line, 1)
        column.addWidget(Line())
        self.sign.clicked.connect(self._on_change)
        self.undo.clicked.connect(lambda: self.undoWanted.emit(self.row))

    def show_row(self, row: LabelRow) -> None:
        """Shows a judgement."""
        self.row = row
        title = row_title(row)
        self.setFixedHeight(theme.height(32, role="meta", padding=12))
        self.text.set_full_text(title)
        self.text.setToolTip(plain_tip(f"{row.left}\n\n{row.right}"))
        self.sign.show_verdict(row.verdict, title)
        self.undo.setAccessibleName(f"Take back: {title}")

    def _on_change(self) -> None:
        self.changeWanted.emit(self.row, self.sign.mapToGlobal(self.sign.rect().bottomLeft()))


class JudgedSide(Panel):
    """The column on the right. Signals say what the person wants; the step does it."""

    checkWanted = Signal()
    historyWanted = Signal()
    changeWanted = Signal(object, QPoint)
    undoWanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", lines="left", parent=parent)
        name(self, "train_side", "What was judged so far")
        self._view: LabelsView | None = None
        self._paces: list[float] = []
        self._imported = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 0, 0)
        column.setSpacing(0)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        name(self.area, "train_side_area", "What was judged so far")
        self.area.viewport().setAutoFillBackground(False)
        self.inner = QWidget()
        self.inner.setObjectName("train_side_inner")
        self.inner.setStyleSheet("#train_side_inner { background: transparent; }")
        self.area.setWidget(self.inner)
        self._fill(QVBoxLayout(self.inner))
        foot = QVBoxLayout()
        foot.setContentsMargins(24, 12, 24, 16)
        foot.setSpacing(4)
        self.check = Button("Check and train", size="large", object_name="train_check")
        self.check.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.fewer = Button("Go on with fewer", kind="link", object_name="train_fewer",
                            tip="Checks what there is; the answer will be less certain")
        foot.addWidget(self.check)
        foot.addWidget(self.fewer, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.area, 1)
        column.addLayout(foot)
        self.check.clicked.connect(self.checkWanted)
        self.fewer.clicked.connect(self.checkWanted)
        self.all.clicked.connect(self.historyWanted)

    def _fill(self, column: QVBoxLayout) -> None:
        column.setContentsMargins(24, 24, 24, 8)
        column.setSpacing(0)
        self.ring = Ring()
        self.said = Label("", role="strong", wrap=True, object_name="train_enough")
        self.pace = Label("", role="meta", tone="muted", wrap=True, object_name="train_pace")
        for label in (self.said, self.pace):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.bar = BalanceBar()
        self.note = Label("", role="meta", tone="muted", wrap=True, object_name="train_balance_note")
        head = QHBoxLayout()
        self.last = ElidedLabel("Last judgements", role="section", object_name="train_last")
        self.all = Button("Show all", kind="link", object_name="train_history",
                          tip="All judgements, to filter and change")
        head.addWidget(self.last, 1)
        head.addWidget(self.all)
        self.none = Label("What you judge stands here, and can be changed.", role="meta", tone="muted", wrap=True,
                          object_name="train_none")
        column.addWidget(self.ring, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(16)
        column.addWidget(self.said)
        column.addSpacing(2)
        column.addWidget(self.pace)
        column.addSpacing(20)
        column.addWidget(self.bar)
        column.addSpacing(8)
        column.addWidget(self.note)
        column.addSpacing(20)
        column.addLayout(head)
        column.addSpacing(4)
        column.addWidget(self.none)
        self.rows: list[RecentRow] = []
        for at in range(MOST_ROWS):
            row = RecentRow(at)
            row.hide()
            row.changeWanted.connect(self.changeWanted)
            row.undoWanted.connect(self.undoWanted)
            column.addWidget(row)
            self.rows.append(row)
        column.addStretch(1)

    # ---- showing

    def add_pace(self, seconds: float) -> None:
        """Takes note of how long a decision took."""
        if 0 < seconds <= LONGEST:
            self._paces = [*self._paces[-39:], seconds]

    def show_imported(self, rows: int) -> None:
        """Takes note of how many labels were taken in from tables: with them one may go on at any time."""
        self._imported = rows
        self._show_foot()

    def show_waiting(self) -> None:
        """Shows no numbers: what was judged is not known yet."""
        self._view = None
        self.ring.show_nothing()
        self.ring.setToolTip("")
        self.ring.setAccessibleDescription("")
        for label in (self.said, self.pace, self.note):
            label.setText("")
        for widget in (self.bar, self.none, self.all):
            widget.hide()
        self._show_rows()
        self._show_foot()

    def show_view(self, view: LabelsView) -> None:
        """Shows what was judged so far."""
        self._view = view
        self.bar.show()
        words = TASKS[view.task]
        self.ring.show_numbers(done_of(view), view.enough, words.units)
        self.ring.setToolTip(plain_tip(view.sentence))
        self.ring.setAccessibleDescription(view.sentence)
        if not view.left and view.total:
            self.said.setText("Enough to learn from; the result will be rough" if view.shared
                              else "Enough to learn from")
            self.pace.setText(view.sentence)
        elif len(self._paces) >= 3:
            pace = median(self._paces)
            # each question is asked of several passages: there the pace is one of judgements, and is not said
            each = view.task is Task.SAME
            self.said.setText(f"Enough to learn in about {general.duration(view.left * pace)}" if each
                              else f"{to_go(view)} to go")
            self.pace.setText(f"at your pace of {max(1, round(pace))} s a {'pair' if each else 'passage'}")
        else:
            self.said.setText(f"{to_go(view)} to go")
            self.pace.setText(view.sentence if view.rows else "With two keys, about a second each")
        first, second = balance_of(view)
        self.bar.show_ends(first[:2], second[:2])
        # both counts stand above already
        balance = "Well mixed." if view.balance.endswith("well mixed.") else view.balance
        shared = f"{view.shared} " if view.shared else ""
        self.note.setText(f"{balance} {shared}Every fourth {words.unit} is kept aside to check the result and never "
                          "trained on.".strip())
        self.none.setVisible(not view.rows)
        self.all.setVisible(bool(view.rows))
        self._show_rows()
        self._show_foot()

    def _show_rows(self) -> None:
        rows = self._view.rows if self._view is not None else ()
        room = self._row_room()
        for at, widget in enumerate(self.rows):
            if at < min(len(rows), room):
                widget.show_row(rows[at])
                widget.show()
            else:
                widget.hide()

    def _row_room(self) -> int:
        return 5 if self.height() < 900 else MOST_ROWS

    def _show_foot(self) -> None:
        view = self._view
        left = view.left if view is not None else 0
        enough = view is not None and not left and view.total > 0
        words = f"Check and train, {to_go(view)} to go" if view is not None and left else "Check and train"
        self.check.set_kind("primary" if enough else "normal")
        self.check.setText(words)
        if view is not None and left and self.check.sizeHint().width() > self.width() - 48:
            self.check.setText(f"{to_go(view)} to go")  # large text
        self.check.setEnabled(enough)
        why = "" if enough or view is None else "Judge a few more first: with fewer, better can't be told from chance"
        self.check.setToolTip(plain_tip(why))
        self.check.setAccessibleDescription(why)
        few = view is not None and not enough and (view.total >= FEWEST or self._imported > 0)
        self.fewer.setVisible(few)
        self.fewer.setText("Go on with the pairs imported" if self._imported and view is not None and
                           view.total < FEWEST else "Go on with fewer")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().height() != event.oldSize().height():
            self._show_rows()

    def fit(self, room: int) -> None:
        """Takes its width from a page of a width: the pairs need the larger part."""
        wide = WIDTH + max(0, theme.text_scale - 100)
        self.setFixedWidth(max(264, min(wide, room // 3)))
        self._show_rows()
        self._show_foot()
