"""Colours, fonts and measures of the window: named tokens, light and dark, in one place.

Use::

    from sbert_desktop.ui.theme import theme

    theme.color("accent")          # QColor of a token, in the scheme now in force
    theme.font("meta")             # QFont of a role, derived from QApplication.font()
    theme.set_role(label, "meta")  # the same, and again after every change of text size
    theme.set_tone(label, "muted") # colour of a label or button text by token
    theme.height(32)               # a height that grows with the text
    theme.duration(160)            # milliseconds, 0 when less motion is asked for
    theme.themeChanged             # emitted after colours or text size changed: repaint, re-measure

Widgets never name a colour themselves. Everything here belongs to the GUI thread.
Source: the tokens and measures of the design's mock-ups.
"""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPalette
from PySide6.QtWidgets import QApplication, QWidget

# token: (light, dark)
TOKENS: Final[dict[str, tuple[str, str]]] = {
    "surface": ("#FAFAF8", "#1E1F22"),
    "rail": ("#F1F1EE", "#18191B"),
    "raised": ("#FFFFFF", "#27282C"),
    "hover": ("#EBEBE7", "#2D2F33"),
    "selected": ("#E1EAF8", "#263750"),
    "border": ("#DAD9D4", "#3B3D42"),
    "track": ("#E3E2DD", "#3B3D42"),
    "text": ("#1B1C1E", "#E7E6E3"),
    "muted": ("#5D6066", "#A3A5AA"),
    "accent": ("#2A5CB4", "#8FB4F5"),
    "on_accent": ("#FFFFFF", "#101A2C"),
    "mark": ("#FFEBA3", "#5C4B12"),
    "good": ("#1A7340", "#6FC48D"),
    "warn": ("#855600", "#E2B153"),
    "danger": ("#B3261E", "#F28F86"),
    "good_soft": ("#E0F1E6", "#1F3628"),
    "warn_soft": ("#FAEDD2", "#3A2F17"),
    "danger_soft": ("#FAE3E0", "#432523"),
    "paper": ("#FFFFFF", "#F1EFEA"),
    "page_mark": ("#FFE27D", "#FFE27D"),
    "group_1": ("#BF840A", "#E69F00"),
    "group_2": ("#3798CC", "#56B4E9"),
    "group_3": ("#009E73", "#009E73"),
    "group_4": ("#9B910A", "#F0E442"),
    "group_5": ("#0072B2", "#2E88C8"),
    "group_6": ("#D55E00", "#D55E00"),
    "group_7": ("#C875A3", "#CC79A7"),
    "group_8": ("#4A4A4A", "#CFCFCF"),
    "group_9": ("#7B61C4", "#A690F0"),
    "group_none": ("#8C8B86", "#6B6D72"),
}

# token made of another one: (source, opacity) for light and dark
_MIXED: Final[dict[str, tuple[tuple[str, float], tuple[str, float]]]] = {
    "scrim": (("#1B1C1E", 0.28), ("#000000", 0.45)),
    "accent_tint": (("accent", 0.10), ("accent", 0.14)),
}

# role: (factor of the base size, weight)
ROLES: Final[dict[str, tuple[float, QFont.Weight]]] = {
    "ring": (2.15, QFont.Weight.DemiBold),
    "verdict": (1.7, QFont.Weight.DemiBold),
    "page_title": (1.4, QFont.Weight.DemiBold),
    "section": (1.1, QFont.Weight.DemiBold),
    "search": (1.15, QFont.Weight.Normal),
    "big_number": (1.15, QFont.Weight.DemiBold),
    "judged": (1.3, QFont.Weight.Normal),
    "body": (1.0, QFont.Weight.Normal),
    "medium": (1.0, QFont.Weight.Medium),
    "strong": (1.0, QFont.Weight.DemiBold),
    "meta": (0.9, QFont.Weight.Normal),
    "meta_medium": (0.9, QFont.Weight.Medium),
    "meta_strong": (0.9, QFont.Weight.DemiBold),
    "key": (0.85, QFont.Weight.Medium),
}

RADIUS: Final = 6
RADIUS_SMALL: Final = 4
SPACE: Final = (4, 8, 12, 16, 24)


class Theme(QObject):
    """The scheme now in force; one instance, :data:`theme`."""

    themeChanged = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._dark = False
        self._choice = "system"
        self._scale = 100
        self._less_motion = False
        self._high_contrast = False
        self._base: QFont | None = None
        self._colors: dict[str, QColor] = {}
        self._fonts: dict[str, QFont] = {}
        self._applied: tuple[object, ...] = ()
        self._styled = 0  # the application that has its style
        self._connected = False

    # ---- what is in force

    @property
    def dark(self) -> bool:
        """True while the dark colours are in force."""
        return self._dark

    @property
    def text_scale(self) -> int:
        """Size of all text in per cent of the system's."""
        return self._scale

    def color(self, name: str) -> QColor:
        """Gives the colour of a token; KeyError when there is no such token."""
        found = self._colors.get(name)
        if found is None:
            found = self._colors[name] = self._make_color(name)
        return QColor(found)

    def hex(self, name: str) -> str:
        """Gives the colour of an opaque token as ``#RRGGBB``."""
        return self.color(name).name()

    def faded(self, name: str, opacity: float) -> QColor:
        """Gives a token's colour at an opacity in [0, 1]."""
        color = self.color(name)
        color.setAlphaF(opacity)
        return color

    def group_color(self, number: int) -> QColor:
        """Gives the colour of group ``number`` (from 0 on; negative: unsorted)."""
        if number < 0:
            return self.color("group_none")
        if number < 9:
            return self.color(f"group_{number + 1}")
        # golden angle: each new hue falls into a wide free gap; same lightness band as the named ones
        hue = (number * 137.508 + 20) % 360
        return QColor.fromHslF(hue / 360, 0.45, 0.70 if self._dark else 0.45)

    def font(self, role: str = "body") -> QFont:
        """Gives the font of a role (see :data:`ROLES`), derived from the system's font."""
        found = self._fonts.get(role)
        if found is None:
            factor, weight = ROLES[role]
            found = QFont(self._scaled_base())
            if found.pixelSize() > 0:
                found.setPixelSize(max(8, round(found.pixelSize() * factor)))
            else:
                found.setPointSizeF(max(6.0, found.pointSizeF() * factor))
            found.setWeight(weight)
            self._fonts[role] = found
        return QFont(found)

    def numbers_font(self, role: str = "body") -> QFont:
        """Gives the font of a role with figures of equal width, for columns."""
        font = self.font(role)
        font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def mono_font(self) -> QFont:
        """Gives the fixed-width font at body size, for checksums and code."""
        from PySide6.QtGui import QFontDatabase

        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        body = self.font("body")
        if body.pixelSize() > 0:
            font.setPixelSize(body.pixelSize())
        else:
            font.setPointSizeF(body.pointSizeF())
        return font

    def metrics(self, role: str = "body") -> QFontMetrics:
        """Gives the measures of a role's font."""
        return QFontMetrics(self.font(role))

    def line(self, role: str = "body", least: int = 0) -> int:
        """Gives the height of one line of a role in logical pixels, at least ``least``."""
        return max(least, self.metrics(role).height())

    def height(self, base: int, *, role: str = "body", lines: int = 1, padding: int = 8) -> int:
        """Gives max(base, lines of text + padding), rounded up to the grid of 4."""
        need = self.metrics(role).height() * lines + padding
        return base if need <= base else math.ceil(need / 4) * 4

    def duration(self, milliseconds: int) -> int:
        """Gives the duration of a movement; 0 when less motion is asked for."""
        return 0 if self._less_motion else milliseconds

    # ---- widgets

    def set_role(self, widget: QWidget, role: str) -> None:
        """Gives a widget the font of a role, now and after each change of text size."""
        widget.setProperty("textRole", role)
        widget.setFont(self.font(role))

    def set_tone(self, widget: QWidget, tone: str) -> None:
        """Colours a label's text by token: muted, accent, good, warn, danger or text."""
        if widget.property("tone") == tone:
            return
        widget.setProperty("tone", tone)
        style = widget.style()
        style.unpolish(widget)
        style.polish(widget)
        role = widget.property("textRole")
        if role:  # polishing put the style sheet's font back
            widget.setFont(self.font(role))

    # ---- changing it

    def apply(self, *, scheme: str | None = None, text_scale: int | None = None,
              reduce_motion: bool | None = None) -> None:
        """Puts colours, palette, style sheet and fonts in force; needs a QApplication.

        Args:
            scheme: ``system``, ``light`` or ``dark``.
            text_scale: 80 to 200 per cent.
            reduce_motion: True shows changes at once.
        """
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        if self._base is None:
            self._base = QFont(app.font())
        self._choice = scheme or self._choice
        self._scale = text_scale or self._scale
        if reduce_motion is not None:
            self._less_motion = reduce_motion
        hints = app.styleHints()
        if not self._connected:
            hints.colorSchemeChanged.connect(self._on_system_changed)
            self._connected = True
        wanted = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}.get(self._choice)
        hints.setColorScheme(wanted if wanted is not None else Qt.ColorScheme.Unknown)
        self._put_in_force(app)

    def _on_system_changed(self) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            self._put_in_force(app)

    def _put_in_force(self, app: QApplication) -> None:
        hints = app.styleHints()
        if self._choice == "system":
            self._dark = hints.colorScheme() == Qt.ColorScheme.Dark
        else:
            self._dark = self._choice == "dark"
        self._high_contrast = _wants_contrast(hints)
        state = (self._dark, self._scale, self._high_contrast, id(app))
        if state == self._applied:
            return
        self._applied = state
        self._colors.clear()
        self._fonts.clear()
        if self._styled != id(app):  # once: under a style sheet the style has no name, and each try polishes all anew
            app.setStyle("Fusion")
            self._styled = id(app)
        app.setPalette(self.palette())
        app.setFont(self.font("body"))
        app.setStyleSheet(style_sheet(self))
        for widget in app.allWidgets():
            role = widget.property("textRole")
            if role:
                widget.setFont(self.font(role))
        self.themeChanged.emit()

    def palette(self) -> QPalette:
        """Gives the palette made of the tokens."""
        palette = QPalette()
        roles = QPalette.ColorRole
        table = {
            roles.Window: "surface", roles.WindowText: "text", roles.Base: "raised", roles.AlternateBase: "rail",
            roles.Text: "text", roles.Button: "raised", roles.ButtonText: "text", roles.BrightText: "danger",
            roles.Highlight: "selected", roles.HighlightedText: "text", roles.Link: "accent",
            roles.LinkVisited: "accent", roles.PlaceholderText: "muted", roles.ToolTipBase: "raised",
            roles.ToolTipText: "text", roles.Light: "raised", roles.Midlight: "hover", roles.Mid: "border",
            roles.Dark: "border", roles.Shadow: "border", roles.Accent: "accent",
        }
        for role, token in table.items():
            palette.setColor(role, self.color(token))
        for role in (roles.WindowText, roles.Text, roles.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.faded("muted", 0.6))
        return palette

    def _scaled_base(self) -> QFont:
        base = QFont(self._base) if self._base is not None else QFont(QApplication.font())
        if base.pixelSize() > 0:
            base.setPixelSize(max(8, round(base.pixelSize() * self._scale / 100)))
        else:
            base.setPointSizeF(max(6.0, base.pointSizeF() * self._scale / 100))
        return base

    def _make_color(self, name: str) -> QColor:
        if name in _MIXED:
            source, opacity = _MIXED[name][self._dark]
            color = QColor(source) if source.startswith("#") else self.color(source)
            color.setAlphaF(opacity)
            return color
        if self._high_contrast:
            # the system asks for more contrast: quiet greys become text, every line becomes visible
            name = {"muted": "text", "border": "muted", "track": "border"}.get(name, name)
        return QColor(TOKENS[name][self._dark])


def _wants_contrast(hints: object) -> bool:
    # Qt 6.10 and newer know what the system asks for; older ones do not say
    ask = getattr(hints, "accessibility", None)
    if ask is None:
        return False
    preference = ask().contrastPreference()
    return bool(preference == Qt.ContrastPreference.HighContrast)


def style_sheet(of: Theme) -> str:
    """Gives the style sheet for Qt's own controls; ours paint themselves with the same tokens."""
    c = {name: of.hex(name) for name in TOKENS}
    tones = "".join(f'QLabel[tone="{name}"] {{ color: {c[name]}; }}\n'
                    for name in ("muted", "accent", "good", "warn", "danger", "text", "on_accent"))
    return tones + f"""
QToolTip {{ background: {c["raised"]}; color: {c["text"]}; border: 1px solid {c["border"]}; padding: 4px 6px; }}
QLineEdit {{ background: {c["raised"]}; color: {c["text"]}; border: 1px solid {c["muted"]}; border-radius: 6px;
    padding: 4px 9px; selection-background-color: {c["accent"]}; selection-color: {c["on_accent"]}; }}
QLineEdit, QPlainTextEdit, QTextEdit {{ placeholder-text-color: {c["muted"]}; }}
QLineEdit:focus {{ border: 2px solid {c["accent"]}; padding: 3px 8px; }}
QLineEdit[bare="true"] {{ background: transparent; border: none; padding: 0; }}
QPlainTextEdit, QTextEdit {{ background: {c["raised"]}; color: {c["text"]}; border: 1px solid {c["muted"]};
    border-radius: 6px; selection-background-color: {c["accent"]}; selection-color: {c["on_accent"]}; }}
QPlainTextEdit:focus, QTextEdit:focus {{ border: 2px solid {c["accent"]}; }}
QSpinBox QLineEdit {{ border: none; background: transparent; padding: 0 8px; }}
QMenu {{ background: {c["raised"]}; color: {c["text"]}; border: 1px solid {c["border"]}; padding: 4px; }}
QMenu::item {{ padding: 6px 24px 6px 10px; border-radius: 4px; }}
QMenu::item:selected {{ background: {c["selected"]}; }}
QMenu::item:disabled {{ color: {c["muted"]}; }}
QMenu::separator {{ height: 1px; background: {c["border"]}; margin: 4px 6px; }}
QMenu::icon {{ padding-left: 8px; }}
QAbstractItemView {{ background: {c["surface"]}; color: {c["text"]}; border: none; outline: none;
    selection-background-color: {c["selected"]}; selection-color: {c["text"]}; }}
QComboBox QAbstractItemView {{ background: {c["raised"]}; border: 1px solid {c["border"]}; padding: 4px; }}
QHeaderView {{ background: {c["surface"]}; border: none; }}
QHeaderView::section {{ background: {c["surface"]}; color: {c["muted"]}; border: none;
    border-bottom: 1px solid {c["border"]}; padding: 0 8px; }}
QTableView {{ gridline-color: {c["border"]}; }}
QTableCornerButton::section {{ background: {c["surface"]}; border: none; }}
QScrollArea {{ background: transparent; border: none; }}
QScrollArea > QWidget > QWidget[page="true"] {{ background: {c["surface"]}; }}
QSplitter::handle {{ background: {c["border"]}; }}
QSplitter::handle:horizontal {{ width: 1px; }}
QSplitter::handle:vertical {{ height: 1px; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
QScrollBar::handle {{ background: {c["track"]}; border-radius: 3px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: 28px; }}
QScrollBar::handle:horizontal {{ min-width: 28px; }}
QScrollBar::handle:hover {{ background: {c["muted"]}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QSlider:horizontal {{ min-height: 20px; }}
QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {c["track"]}; }}
QSlider::sub-page:horizontal {{ height: 4px; border-radius: 2px; background: {c["track"]}; }}
QSlider::handle:horizontal {{ width: 10px; height: 10px; margin: -5px 0; border-radius: 7px;
    background: {c["raised"]}; border: 2px solid {c["accent"]}; }}
QSlider::handle:horizontal:focus {{ background: {c["accent"]}; }}
QSlider::handle:horizontal:disabled {{ border-color: {c["muted"]}; }}
QDialog {{ background: {c["surface"]}; }}
"""


theme = Theme()
