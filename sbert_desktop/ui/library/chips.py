"""A row of filters that are pressed in and out: a word and how often, the rare ones in a menu."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from sbert_desktop.ui import icons, words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Chip, FlowLayout, KeyboardFocus, menu, name, no_mnemonic, paint_box, paint_focus

SHOWN = 6  # more than these wrap into lines that nobody reads
SHOWN_LARGE = 3  # the same in large text: a second line would take the list's room in a small window


class CountChip(KeyboardFocus, QToolButton):
    """A word and a count; pressed in it is filled, set in semibold and carries an x."""

    def __init__(self, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._word, self._count = "", ""
        self.setCheckable(True)
        self.setObjectName(object_name)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.set_role(self, "meta")

    def word(self) -> str:
        """Gives the word shown."""
        return self._word

    def set_texts(self, word: str, count: int) -> None:
        """Shows a word and a count."""
        self._word, self._count = word, words.count(count)
        self.setAccessibleName(f"{word}, {self._count}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        word = QFontMetrics(theme.font("meta_strong" if self.isChecked() else "meta"))
        meta = QFontMetrics(theme.font("meta"))
        width = 10 + word.horizontalAdvance(self._word) + 6 + meta.horizontalAdvance(self._count) + 10
        return QSize(width + (18 if self.isChecked() else 0), theme.height(28, role="meta", padding=8))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect, on = self.rect(), self.isChecked()
        hover = self.underMouse() and self.isEnabled()
        paint_box(painter, rect, "selected" if on else "hover" if hover else "raised",
                  ("accent" if hover else None) if on else "border")
        font = theme.font("meta_strong" if on else "meta")
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        painter.drawText(rect.adjusted(10, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self._word)
        x = 10 + QFontMetrics(font).horizontalAdvance(self._word) + 6
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        painter.drawText(rect.adjusted(x, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self._count)
        if on:
            icons.paint(painter, "close", QRect(rect.width() - 8 - 16, (rect.height() - 16) // 2, 16, 16), "accent")
        if self.shows_focus():
            paint_focus(painter, rect)


class ChipRow(QWidget):
    """One of several words, or none: ``changed(word)``, "" for none."""

    changed = Signal(str)

    def __init__(self, object_name: str, accessible: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, accessible)
        self._value = ""
        self._rest: list[tuple[str, int]] = []
        self._counts: tuple[tuple[str, int], ...] = ()
        self.flow = FlowLayout(self, gap=8)
        self.chips = [CountChip(f"{object_name}_{at}") for at in range(SHOWN)]
        for at, chip in enumerate(self.chips):
            chip.setAccessibleName(f"{accessible} {at + 1}")
            chip.clicked.connect(partial(self._on_clicked, chip))
            chip.setAccessibleDescription("Shows only these; press again to show all")
            self.flow.addWidget(chip)
            chip.hide()
        self.more = Chip("Other", unset="choose", object_name=f"{object_name}_more")
        self.menu = menu(self, f"{object_name}_menu", accessible)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.more.setMenu(self.menu)
        self.more.cleared.connect(lambda: self._choose(""))
        self.flow.addWidget(self.more)
        self.more.hide()
        theme.themeChanged.connect(self._on_theme)
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def value(self) -> str:
        """Gives the word chosen, or ""."""
        return self._value

    def set_value(self, word: str) -> None:
        """Chooses a word without a signal."""
        self._value = word
        self._show()

    def set_counts(self, counts: Sequence[tuple[str, int]]) -> None:
        """Shows these words with their counts, the first ones as chips."""
        known = {word for word, _ in counts}
        if self._value and self._value not in known:
            counts = [*counts, (self._value, 0)]
        self._counts = tuple(counts)
        most = SHOWN if theme.text_scale <= 140 else SHOWN_LARGE
        head, self._rest = list(counts[:most]), list(counts[most:])
        for at, chip in enumerate(self.chips):
            chip.setVisible(at < len(head))
            if at < len(head):
                chip.set_texts(*head[at])
        self.more.setVisible(bool(self._rest))
        self._show()

    def _on_theme(self) -> None:
        self.set_counts(self._counts)

    def _show(self) -> None:
        for chip in self.chips:
            chip.setChecked(bool(self._value) and chip.word() == self._value and not chip.isHidden())
            chip.updateGeometry()
        self.more.set_value(self._value if self._value in {word for word, _ in self._rest} else "")
        self.flow.invalidate()
        self.updateGeometry()

    def _fill_menu(self) -> None:
        self.menu.clear()
        for word, count in self._rest:
            self.menu.addAction(no_mnemonic(f"{word}  ({count:,})"), partial(self._choose, word))

    def _on_clicked(self, chip: CountChip) -> None:
        self._choose(chip.word() if chip.isChecked() else "")

    def _choose(self, word: str) -> None:
        self._value = word
        self._show()
        self.changed.emit(word)
