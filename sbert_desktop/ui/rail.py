"""The navigation rail: the library's name, the pages with what is kept below them, Settings and Collapse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEasingCurve, QPoint, QRect, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QScrollArea, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import RADIUS, theme
from sbert_desktop.ui.widgets import KeyboardFocus, Panel, name, paint_box, paint_focus, plain_tip

WIDE, NARROW = 172, 52


class RailItem(KeyboardFocus, QToolButton):
    """One row of the rail: icon, word, and a number or a problem count on the right."""

    def __init__(self, icon: str, text: str, *, object_name: str, checkable: bool = True, shortcut: str = "",
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon, self._word, self._badge, self._warn = icon, text, "", False
        self._dot = ""
        self._shortcut = shortcut
        self.setCheckable(checkable)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.set_role(self, "body")
        name(self, object_name, text)
        self._describe()

    def set_badge(self, badge: str, *, warn: bool = False, description: str = "") -> None:
        """Shows a count at the right; with ``warn`` a triangle before it."""
        self._badge, self._warn = badge, warn
        self.setAccessibleDescription(description)
        self._describe(description)
        self.update()

    def set_dot(self, description: str) -> None:
        """Shows a dot on the icon alone: in the collapsed rail it stands for what the rows below would tell."""
        self._dot = description
        self.setAccessibleDescription(description)
        self._describe(description)
        self.update()

    def set_word(self, text: str) -> None:
        """Changes the word."""
        self._word = text
        self.setAccessibleName(text)
        self._describe()
        self.update()

    def _describe(self, more: str = "") -> None:
        tip = f"{self._word} ({self._shortcut})" if self._shortcut else self._word
        self.setToolTip(plain_tip(f"{tip}: {more}" if more else tip))

    def wanted_width(self) -> int:
        """Gives the width that shows the whole word."""
        badge = QFontMetrics(theme.font("meta")).horizontalAdvance(self._badge) + 28 if self._badge else 0
        return 50 - 8 + QFontMetrics(theme.font("strong")).horizontalAdvance(self._word) + 12 + badge

    def sizeHint(self) -> QSize:
        return QSize(NARROW - 16, theme.height(36, padding=14))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect()
        checked = self.isChecked()
        if checked:
            paint_box(painter, rect, "selected", None)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent"))
            painter.drawRoundedRect(QRectF(0, (rect.height() - 20) / 2, 3, 20), 1.5, 1.5)
        elif self.underMouse():
            paint_box(painter, rect, "hover", None)
        # collapsed: the icon stands in the middle; wide: at x 20 of the rail
        x = 12 if rect.width() > NARROW else (rect.width() - 18) // 2
        icons.paint(painter, self._icon, QRect(x, (rect.height() - 18) // 2, 18, 18), "accent" if checked else "muted")
        if rect.width() > NARROW:
            painter.setFont(theme.font("strong" if checked else "body"))
            painter.setPen(theme.color("text"))
            painter.drawText(rect.adjusted(42, 0, -8, 0), Qt.AlignmentFlag.AlignVCenter, self._word)
            if self._badge:
                painter.setFont(theme.font("meta"))
                painter.setPen(theme.color("warn" if self._warn else "muted"))
                width = painter.fontMetrics().horizontalAdvance(self._badge)
                right = rect.adjusted(0, 0, -8, 0)
                painter.drawText(right, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._badge)
                if self._warn:
                    box = QRect(right.right() - width - 19, (rect.height() - 15) // 2, 15, 15)
                    icons.paint(painter, "warning", box, "warn")
        elif self._badge or self._dot:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent" if self._dot else "warn" if self._warn else "muted"))
            painter.drawEllipse(QRectF(rect.width() - 11, 5, 7, 7))
        if self.shows_focus():
            paint_focus(painter, rect)


@dataclass(frozen=True, slots=True)
class Kept:
    """One row below a page: a saved search or a collection. ``fresh``: with a dot before its count."""

    key: str
    text: str
    badge: str = ""
    fresh: bool = False
    description: str = ""


class KeptRow(KeyboardFocus, QToolButton):
    """A small row of the rail; F2, Delete and the menu key act on what it stands for."""

    renameAsked = Signal()
    removeAsked = Signal()

    def __init__(self, row: Kept, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.row = row
        self._current = False
        self.setObjectName(object_name)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.set_role(self, "meta")
        self.set_row(row)

    def set_row(self, row: Kept) -> None:
        """Shows another thing in this row."""
        self.row = row
        self.setAccessibleName(row.text)
        self.setAccessibleDescription(row.description)
        self.setToolTip(plain_tip(f"{row.text}: {row.description}" if row.description else row.text))
        self.update()

    def set_current(self, current: bool) -> None:
        """Marks it as what the page shows."""
        self._current = current
        self.update()

    def is_current(self) -> bool:
        """True while the page shows what it stands for."""
        return self._current

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F2:
            self.renameAsked.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.removeAsked.emit()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(NARROW - 16, theme.height(28, role="meta", padding=10))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect()
        if self._current:
            paint_box(painter, rect.adjusted(34, 0, 0, 0), "selected", None)
        elif self.underMouse():
            paint_box(painter, rect.adjusted(34, 0, 0, 0), "hover", None)
        painter.setFont(theme.font("meta"))
        width = painter.fontMetrics().horizontalAdvance(self.row.badge) if self.row.badge else 0
        right = rect.adjusted(0, 0, -8, 0)
        if self.row.badge:
            painter.setPen(theme.color("accent" if self.row.fresh else "muted"))
            painter.drawText(right, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self.row.badge)
        if self.row.fresh:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent"))
            painter.drawEllipse(QRectF(right.right() - width - 11, rect.height() / 2 - 3, 6, 6))
            width += 14
        painter.setFont(theme.font("meta_strong" if self._current or self.row.fresh else "meta"))
        painter.setPen(theme.color("text"))
        room = rect.adjusted(42, 0, -(8 + (width + 8 if width else 0)), 0)
        text = painter.fontMetrics().elidedText(self.row.text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        if self.shows_focus():
            paint_focus(painter, rect.adjusted(34, 0, 0, 0))


class _Head(QWidget):
    """The mark of the program and the library's name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self.setObjectName("rail_library")

    def set_name(self, text: str, tip: str) -> None:
        """Shows the library's name."""
        self._name = text
        self.setAccessibleName(f"Library: {text}")
        self.setToolTip(plain_tip(tip))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(NARROW - 16, theme.height(40, padding=16))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        box = QRect(8 if self.width() > NARROW else (self.width() - 24) // 2, (self.height() - 24) // 2, 24, 24)
        paint_box(painter, box, "accent", None, RADIUS)
        icons.draw(painter, "similar", QRectF(box).adjusted(3, 3, -3, -3), theme.color("on_accent"))
        if self.width() > NARROW:
            painter.setFont(theme.font("strong"))
            painter.setPen(theme.color("text"))
            room = self.rect().adjusted(40, 0, -4, 0)
            text = painter.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)


class Rail(Panel):
    """The rail: ``pageChosen(key)``; collapses to icons by hand or because the window is narrow.

    Below a page stand the things kept for it: ``keptChosen(page, key)``, ``keptMenuAsked(page, key, global
    position)``, ``keptRenameAsked(page, key)``, ``keptRemoveAsked(page, key)``.
    """

    pageChosen = Signal(str)
    keptChosen = Signal(str, str)
    keptMenuAsked = Signal(str, str, object)
    keptRenameAsked = Signal(str, str)
    keptRemoveAsked = Signal(str, str)
    collapsedChanged = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("rail", lines="right", parent=parent)
        name(self, "rail", "Pages")
        self._items: dict[str, RailItem] = {}
        self._kept: dict[str, list[KeptRow]] = {}
        self._below: dict[str, QVBoxLayout] = {}
        self._group = QButtonGroup(self)
        self._by_hand = False
        self._forced = False
        self.head = _Head()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(8, 8, 9, 8)
        self._column.setSpacing(2)
        self._column.addWidget(self.head)
        self._column.addSpacing(8)
        content = QWidget()
        content.setObjectName("rail_content")
        self._pages = QVBoxLayout(content)
        self._pages.setContentsMargins(0, 0, 0, 0)
        self._pages.setSpacing(2)
        self._pages.addStretch(1)
        self.area = QScrollArea()
        name(self.area, "rail_pages", "Pages")
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(content)
        content.setAutoFillBackground(False)  # set by setWidget; the rail's own fill is to be seen
        self.area.viewport().setAutoFillBackground(False)
        self._column.addWidget(self.area, 1)
        self._foot = QVBoxLayout()
        self._foot.setSpacing(2)
        self._column.addLayout(self._foot)
        self.collapse = RailItem("collapse", "Collapse", object_name="rail_collapse", checkable=False,
                                 shortcut="Ctrl+B")
        self.collapse.clicked.connect(self.toggle)
        self._column.addWidget(self.collapse)
        self._move = QVariantAnimation(self)
        self._move.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._move.valueChanged.connect(lambda value: self.setFixedWidth(int(value)))
        theme.themeChanged.connect(self._on_theme_changed)
        self.setFixedWidth(WIDE)

    def add_page(self, key: str, text: str, icon: str, *, shortcut: str = "", foot: bool = False) -> None:
        """Adds a page's row; ``foot`` puts it above Collapse."""
        item = RailItem(icon, text, object_name=f"rail_{key}", shortcut=shortcut)
        item.clicked.connect(lambda: self.pageChosen.emit(key))
        self._items[key] = item
        self._group.addButton(item)
        if foot:
            self._foot.addWidget(item)
        else:
            below = self._below[key] = QVBoxLayout()
            below.setSpacing(0)
            self._pages.insertWidget(self._pages.count() - 1, item)
            self._pages.insertLayout(self._pages.count() - 1, below)
        self._fit(animate=False)

    def remove_page(self, key: str) -> None:
        """Takes a page's row away."""
        item = self._items.pop(key)
        self._group.removeButton(item)
        item.hide()
        item.deleteLater()

    def set_kept(self, page: str, rows: Sequence[Kept]) -> None:
        """Shows what is kept for a page, below its row; widgets are used again, so that the focus stays."""
        shown = self._kept.setdefault(page, [])
        while len(shown) > len(rows):
            gone = shown.pop()
            self._below[page].removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        for at, row in enumerate(rows):
            if at < len(shown):
                shown[at].set_row(row)
            else:
                shown.append(self._make_kept(page, row, at))
        self._fit_kept()

    def kept(self, page: str) -> list[KeptRow]:
        """Gives the rows below a page."""
        return self._kept.get(page, [])

    def show_kept(self, page: str, key: str) -> None:
        """Marks the row that the page in front shows; "" for none."""
        for row in self.kept(page):
            row.set_current(row.row.key == key)

    def _make_kept(self, page: str, row: Kept, at: int) -> KeptRow:
        made = KeptRow(row, f"rail_{page}_kept_{at}")
        made.clicked.connect(lambda: self.keptChosen.emit(page, made.row.key))
        made.renameAsked.connect(lambda: self.keptRenameAsked.emit(page, made.row.key))
        made.removeAsked.connect(lambda: self.keptRemoveAsked.emit(page, made.row.key))
        made.customContextMenuRequested.connect(
            lambda position: self._on_menu(page, made, position))
        self._below[page].addWidget(made)
        before = self.kept(page)[-1] if self.kept(page) else self._items[page]
        QWidget.setTabOrder(before, made)
        return made

    def _on_menu(self, page: str, row: KeptRow, position: QPoint) -> None:
        self.keptMenuAsked.emit(page, row.row.key, row.mapToGlobal(position))

    def _fit_kept(self) -> None:
        for rows in self._kept.values():
            for row in rows:
                row.setVisible(not self.collapsed())

    def set_badge(self, key: str, badge: str, *, warn: bool = False, description: str = "") -> None:
        """Shows a count at a page's row; the rail grows if it must."""
        self._items[key].set_badge(badge, warn=warn, description=description)
        if not self.collapsed() and self.width() < self.wide_width():
            self._fit(animate=False)

    def item(self, key: str) -> RailItem:
        """Gives a page's row."""
        return self._items[key]

    def show_current(self, key: str) -> None:
        """Marks the page in front."""
        if key in self._items:
            self._items[key].setChecked(True)

    def collapsed(self) -> bool:
        """True while only icons are shown."""
        return self._by_hand or self._forced

    def collapsed_by_hand(self) -> bool:
        """True when the person collapsed it."""
        return self._by_hand

    def set_collapsed(self, collapsed: bool) -> None:
        """Collapses or opens the rail for the person."""
        self._by_hand = collapsed
        self._fit(animate=self.isVisible())

    def set_forced(self, forced: bool) -> None:
        """Collapses while the window is narrow."""
        if forced != self._forced:
            self._forced = forced
            self._fit(animate=False)

    def toggle(self) -> None:
        """Collapses or opens; in a narrow window it opens until the window's size changes."""
        if self._forced:
            self._forced = False
            self._by_hand = False
        else:
            self._by_hand = not self._by_hand
        self._fit(animate=True)

    def wide_width(self) -> int:
        """Gives the width of the open rail; it grows with the text."""
        wanted = [item.wanted_width() for item in (*self._items.values(), self.collapse)]
        return max(WIDE, max(wanted, default=0) + 17)

    def _on_theme_changed(self) -> None:
        self._fit(animate=False)

    def _fit(self, *, animate: bool) -> None:
        target = NARROW if self.collapsed() else self.wide_width()
        self._fit_kept()
        self.collapse.set_word("Expand" if self.collapsed() else "Collapse")
        self._move.stop()
        if animate and theme.duration(120) and self.width() != target:
            self._move.setDuration(theme.duration(120))
            self._move.setStartValue(self.width())
            self._move.setEndValue(target)
            self._move.start()
        else:
            self.setFixedWidth(target)
        self.collapsedChanged.emit(self.collapsed())
