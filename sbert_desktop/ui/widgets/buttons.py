"""What can be pressed or chosen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QListView,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import RADIUS, RADIUS_SMALL, theme
from sbert_desktop.ui.widgets.painting import (
    KeyboardFocus,
    name,
    no_mnemonic,
    paint_box,
    paint_focus,
    plain_tip,
    set_tip,
)


class Button(KeyboardFocus, QPushButton):
    """A button: ``kind`` normal, primary, link, flat or warn (a tag that can be pressed).

    ``size`` is normal (32), large (36) or small (24).
    """

    def __init__(self, text: str, *, kind: str = "normal", size: str = "normal", icon: str = "", object_name: str = "",
                 accessible: str = "", tip: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind, self._size, self._icon = kind, size, icon
        theme.set_role(self, {"small": "meta_medium"}.get(size, "medium"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        if kind == "link":
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        if object_name:
            self.setObjectName(object_name)
        self._accessible = accessible
        self.setText(text)
        if tip:
            set_tip(self, tip)

    def setText(self, text: str) -> None:
        super().setText(no_mnemonic(text))
        self.setAccessibleName(self._accessible or text)
        self.updateGeometry()

    def label(self) -> str:
        """Gives the text as it is shown."""
        return self.text().replace("&&", "&")

    def set_kind(self, kind: str) -> None:
        """Changes its kind: a button becomes primary when it is what comes next."""
        self._kind = kind
        self.update()

    def set_icon(self, icon: str) -> None:
        """Changes the icon by name; "" for none."""
        self._icon = icon
        self.updateGeometry()
        self.update()

    def _measures(self) -> tuple[int, int, int, int]:
        # height, padding, icon, gap
        if self._kind == "link":
            return theme.height(24 if self._size != "large" else 28, padding=4), 4, 16, 6
        return {
            "normal": (theme.height(32, padding=12), 12, 18, 8),
            "large": (theme.height(36, padding=16), 16, 18, 8),
            "small": (theme.height(24, role="meta", padding=6), 8, 16, 4),
        }[self._size]

    def sizeHint(self) -> QSize:
        height, padding, icon, gap = self._measures()
        width = QFontMetrics(self.font()).horizontalAdvance(self.label()) + 2 * padding + 2
        if self._icon:
            width += icon + (gap if self.label() else 0)
        return QSize(width, height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        _, padding, icon, gap = self._measures()
        rect = self.rect()
        enabled, hover = self.isEnabled(), self.underMouse() and self.isEnabled()
        ink = "text"
        if self._kind == "primary":
            if enabled:
                paint_box(painter, rect, "accent", None)
                if self.isDown() or hover:
                    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(theme.faded("on_accent", 0.16 if self.isDown() else 0.08))
                    painter.drawRoundedRect(QRectF(rect), RADIUS, RADIUS)
                ink = "on_accent"
            else:
                paint_box(painter, rect, "raised", "border")
        elif self._kind == "link":
            ink = "accent"
        elif self._kind == "flat":
            if hover or self.isDown():
                paint_box(painter, rect, "selected" if self.isDown() else "hover", None)
        elif self._kind == "warn":
            paint_box(painter, rect, "warn_soft", "warn" if hover else None, RADIUS_SMALL)
            ink = "warn"
        else:
            pressed = self.isDown() or self.isChecked()
            paint_box(painter, rect, "selected" if pressed else "hover" if hover else "raised", "border")
        color = theme.color(ink) if enabled else theme.faded("muted", 0.6)
        metrics = QFontMetrics(self.font())
        room = rect.width() - 2 * padding - (icon + gap if self._icon else 0)
        text = metrics.elidedText(self.label(), Qt.TextElideMode.ElideRight, max(0, room + 2))
        used = metrics.horizontalAdvance(text) + (icon + (gap if text else 0) if self._icon else 0)
        x = rect.x() + (rect.width() - used) // 2
        if self._icon:
            shade = color if ink != "text" or not enabled else theme.color("muted")
            icons.paint(painter, self._icon, QRect(x, (rect.height() - icon) // 2, icon, icon), shade)
            x += icon + gap
        painter.setPen(color)
        font = self.font()
        if self._kind == "link" and hover:
            font.setUnderline(True)
        painter.setFont(font)
        painter.drawText(QRect(x, 0, rect.right() - x + 1, rect.height()), Qt.AlignmentFlag.AlignVCenter, text)
        if self.shows_focus():
            if self._kind == "primary":
                _paint_inner_ring(painter, rect)
            else:
                paint_focus(painter, rect)


def _paint_inner_ring(painter: QPainter, rect: QRect) -> None:
    # accent on accent is invisible: on a filled button the ring is set off by the colour of its text
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.color("on_accent"), 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(rect).adjusted(3, 3, -3, -3), RADIUS - 2, RADIUS - 2)


class IconButton(KeyboardFocus, QToolButton):
    """A 28 x 28 button with an icon; ``tip`` is its tooltip and its accessible name."""

    def __init__(self, icon: str, tip: str, *, object_name: str = "", shortcut: str = "", checkable: bool = False,
                 size: int = 28, icon_size: int = 18, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon, self._side, self._icon_size = icon, size, icon_size
        self.setCheckable(checkable)
        self.setAutoRaise(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        if object_name:
            self.setObjectName(object_name)
        self.set_tip(tip, shortcut)

    def set_tip(self, tip: str, shortcut: str = "") -> None:
        """Changes tooltip and accessible name."""
        self.setAccessibleName(tip)
        self.setToolTip(plain_tip(f"{tip} ({shortcut})" if shortcut else tip))

    def set_icon(self, icon: str) -> None:
        """Changes the icon by name."""
        self._icon = icon
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._side, self._side)

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        down = self.isDown() or self.isChecked()
        hover = self.underMouse() and self.isEnabled()
        if down or hover:
            paint_box(painter, self.rect(), "selected" if down else "hover", None)
        color = theme.color("accent" if self.isChecked() else "text" if hover else "muted")
        if not self.isEnabled():
            color = theme.faded("muted", 0.45)
        box = QRect(0, 0, self._icon_size, self._icon_size)
        box.moveCenter(self.rect().center())
        icons.paint(painter, self._icon, box, color)
        if self.shows_focus():
            paint_focus(painter, self.rect())


class CheckBox(KeyboardFocus, QCheckBox):
    """A check box of 16 px with the theme's colours; three states when asked for."""

    def __init__(self, text: str = "", *, object_name: str = "", accessible: str = "",
                 parent: QWidget | None = None) -> None:
        super().__init__(no_mnemonic(text), parent)
        theme.set_role(self, "body")
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(accessible or text)
        if object_name:
            self.setObjectName(object_name)

    def sizeHint(self) -> QSize:
        text = self.text().replace("&&", "&")
        width = 16 + 4 + (8 + QFontMetrics(self.font()).horizontalAdvance(text) if text else 0)
        return QSize(width + 4, theme.height(24, padding=4))

    minimumSizeHint = sizeHint

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        box = QRect(2, (self.height() - 16) // 2, 16, 16)
        state = self.checkState()
        if state == Qt.CheckState.Unchecked:
            paint_box(painter, box, "hover" if self.underMouse() else "raised", "muted", RADIUS_SMALL, 1.5)
        else:
            paint_box(painter, box, "accent", None, RADIUS_SMALL)
            mark = QRect(box.adjusted(2, 2, -2, -2))
            icons.paint(painter, "check" if state == Qt.CheckState.Checked else "minus", mark, "on_accent")
        painter.setFont(self.font())
        painter.setPen(theme.color("text") if self.isEnabled() else theme.faded("muted", 0.6))
        painter.drawText(self.rect().adjusted(26, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter,
                         self.text().replace("&&", "&"))
        if self.shows_focus():
            paint_focus(painter, self.rect() if self.text() else box.adjusted(-2, -2, 2, 2))


class Chip(KeyboardFocus, QToolButton):
    """A filter: a caption and its value. Unset: border and chevron; set: filled, with an x to clear.

    ``set_value("")`` unsets it and shows ``unset`` ("any"). ``cleared`` is emitted when the person
    clicks the x or presses Delete; ``clicked`` opens the choice (or set a menu with ``setMenu``).
    """

    cleared = Signal()

    def __init__(self, caption: str, *, unset: str = "any", object_name: str = "", icon: str = "", plain: bool = False,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._caption, self._unset, self._value, self._icon, self._plain = caption, unset, "", icon, plain
        theme.set_role(self, "meta")
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        if object_name:
            self.setObjectName(object_name)
        self._describe()

    def value(self) -> str:
        """Gives the value shown, or "" while unset."""
        return self._value

    def set_value(self, value: str, tip: str = "") -> None:
        """Shows a value; "" unsets the filter."""
        self._value = value
        self._describe()
        self.setToolTip(plain_tip(tip or (f"{self._caption}: {value}" if value else "")))
        self.updateGeometry()
        self.update()

    def _describe(self) -> None:
        if self._plain:
            self.setAccessibleName(self._caption)
            return
        self.setAccessibleName(f"{self._caption}: {self._value or self._unset}")
        self.setAccessibleDescription("Delete clears this filter" if self._value else "")

    def _shown(self) -> str:
        metrics = QFontMetrics(theme.font("meta_strong"))
        return metrics.elidedText(self._value or self._unset, Qt.TextElideMode.ElideMiddle, 200)

    def sizeHint(self) -> QSize:
        caption = self._caption if self._plain else f"{self._caption}: "
        width = 10 + QFontMetrics(theme.font("meta")).horizontalAdvance(caption) + 8
        if self._icon:
            width += 16 + 6
        if not self._plain:
            width += QFontMetrics(theme.font("meta_strong")).horizontalAdvance(self._shown()) + 6 + 16
        return QSize(width + 2, theme.height(28, role="meta", padding=8))

    minimumSizeHint = sizeHint

    def _clear_box(self) -> QRect:
        return QRect(self.width() - 8 - 18, (self.height() - 20) // 2, 20, 20)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._value and not self._plain and self._clear_box().contains(event.position().toPoint()):
            self.cleared.emit()
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._value and event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.cleared.emit()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect()
        hover = self.underMouse() and self.isEnabled()
        if self._value:
            paint_box(painter, rect, "selected", "accent" if hover else None)
        elif self._plain:
            if hover:
                paint_box(painter, rect, "hover", None)
        else:
            paint_box(painter, rect, "hover" if hover else "raised", "border")
        x = 10
        if self._icon:
            icons.paint(painter, self._icon, QRect(x, (rect.height() - 16) // 2, 16, 16), "muted")
            x += 16 + 6
        flags = Qt.AlignmentFlag.AlignVCenter
        caption = self._caption if self._plain else f"{self._caption}: "
        painter.setFont(theme.font("meta"))
        ink = theme.color("text" if self._value else "muted")
        painter.setPen(ink if self.isEnabled() else theme.faded("muted", 0.6))
        painter.drawText(QRect(x, 0, rect.width(), rect.height()), flags, caption)
        if not self._plain:
            x += QFontMetrics(theme.font("meta")).horizontalAdvance(caption)
            painter.setFont(theme.font("meta_strong"))
            painter.setPen(theme.color("text"))
            painter.drawText(QRect(x, 0, rect.width(), rect.height()), flags, self._shown())
            box = QRect(rect.width() - 8 - 16, (rect.height() - 16) // 2, 16, 16)
            icons.paint(painter, "close" if self._value else "chevron", box, "accent" if self._value else "muted")
        if self.shows_focus():
            paint_focus(painter, rect)


class ComboBox(KeyboardFocus, QComboBox):
    """A closed choice; ``flat`` shows only its value and a chevron (a sort order).

    With a ``caption`` it is a filter, as wide as its value; else as wide as its widest choice.
    """

    def __init__(self, *, object_name: str = "", accessible: str = "", flat: bool = False, caption: str = "",
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flat, self._caption = flat, caption
        theme.set_role(self, "meta")
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        if object_name or accessible:
            name(self, object_name, accessible)
        # a view of our own takes the style sheet's padding; the style's pop-up menu does not

        self.currentIndexChanged.connect(lambda _: self.updateGeometry())
        view = QListView(self)
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        name(view, f"{object_name}_list", accessible)
        self.setView(view)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # a page that is scrolled must not change a choice under the pointer

    def _head(self) -> str:
        return f"{self._caption}: " if self._caption else ""

    def sizeHint(self) -> QSize:
        strong, plain = QFontMetrics(theme.font("meta_strong")), QFontMetrics(theme.font("meta"))
        texts = [self.currentText()] if self._caption else [self.itemText(i) for i in range(self.count())] or [""]
        widest = min(180 if self._caption else 280, max(strong.horizontalAdvance(text) for text in texts))
        width = 10 + plain.horizontalAdvance(self._head()) + widest + 6 + 16 + 8
        return QSize(width, theme.height(28, role="meta", padding=8))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect()
        hover = self.underMouse() and self.isEnabled()
        if self._flat:
            if hover:
                paint_box(painter, rect, "hover", None)
        else:
            paint_box(painter, rect, "hover" if hover else "raised", "border")
        flags = Qt.AlignmentFlag.AlignVCenter
        x = 10
        painter.setPen(theme.color("muted"))
        painter.setFont(theme.font("meta"))
        painter.drawText(QRect(x, 0, rect.width(), rect.height()), flags, self._head())
        x += QFontMetrics(theme.font("meta")).horizontalAdvance(self._head())
        font = theme.font("meta_strong" if self._caption else "meta_medium")
        painter.setFont(font)
        painter.setPen((theme.color("muted") if self._flat else theme.color("text")) if self.isEnabled()
                       else theme.faded("muted", 0.6))
        room = rect.width() - x - 8 - 16 - 4
        text = QFontMetrics(font).elidedText(self.currentText(), Qt.TextElideMode.ElideMiddle, max(0, room))
        painter.drawText(QRect(x, 0, room + 2, rect.height()), flags, text)
        icons.paint(painter, "chevron", QRect(rect.width() - 24, (rect.height() - 16) // 2, 16, 16), "muted")
        if self.shows_focus():
            paint_focus(painter, rect)


class _Segment(KeyboardFocus, QToolButton):
    """One word of a Segmented."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setText(no_mnemonic(text))
        self.setCheckable(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.set_role(self, "meta_medium")

    def sizeHint(self) -> QSize:
        width = QFontMetrics(theme.font("meta_strong")).horizontalAdvance(self.text().replace("&&", "&"))
        return QSize(width + 20, theme.height(28, role="meta", padding=8))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect().adjusted(2, 2, -2, -2)
        if self.isChecked():
            paint_box(painter, rect, "selected", None, RADIUS_SMALL)
        elif self.underMouse() and self.isEnabled():
            paint_box(painter, rect, "hover", None, RADIUS_SMALL)
        painter.setFont(theme.font("meta_strong" if self.isChecked() else "meta_medium"))
        painter.setPen(theme.color("text" if self.isChecked() else "muted"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text().replace("&&", "&"))
        if self.shows_focus():
            paint_focus(painter, self.rect())


class Segmented(QFrame):
    """One of a few words, side by side; ``changed(key)`` when the person chooses."""

    changed = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], *, object_name: str, accessible: str,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, accessible)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._buttons: dict[str, _Segment] = {}
        for key, text in choices:
            button = _Segment(text, self)
            button.setAutoExclusive(True)
            name(button, f"{object_name}_{key}", f"{accessible}: {text}")
            button.clicked.connect(lambda _=False, key=key: self.changed.emit(key))
            row.addWidget(button)
            self._buttons[key] = button
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def value(self) -> str:
        """Gives the key chosen, or ""."""
        return next((key for key, button in self._buttons.items() if button.isChecked()), "")

    def set_value(self, key: str) -> None:
        """Chooses a key without a signal."""
        if key in self._buttons:
            self._buttons[key].setChecked(True)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_box(QPainter(self), self.rect(), "raised", "border")
