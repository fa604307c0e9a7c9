"""The floating frame of tools at the upper left of the map."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from sbert_desktop.app.atlas_views import ColourBy, MapUnit
from sbert_desktop.ui import icons
from sbert_desktop.ui.map.words import COLOUR_BY
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Card,
    IconButton,
    KeyboardFocus,
    Line,
    menu,
    name,
    no_mnemonic,
    paint_box,
    paint_focus,
    plain_tip,
)

TOOLS = (("pan", "move", "Move the map", "H"), ("lasso", "lasso", "Select with a line around", "L"),
         ("rectangle", "marquee", "Select in a rectangle", "R"))


class ValueButton(KeyboardFocus, QToolButton):
    """Icon, caption and a value set off by weight: ``Colour by **cluster** v``; short without its caption."""

    def __init__(self, icon: str, caption: str, object_name: str, *, chevron: bool = True,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon, self._caption, self._value, self._chevron = icon, caption, "", chevron
        self._short = False
        theme.set_role(self, "body")
        self.setObjectName(object_name)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def value(self) -> str:
        """Gives the value shown."""
        return self._value

    def set_value(self, value: str, *, accessible: str = "") -> None:
        """Shows a value."""
        self._value = value
        said = accessible or f"{self._caption} {value}".strip()
        self.setAccessibleName(said)
        self.setToolTip(plain_tip(said))
        self.updateGeometry()
        self.update()

    def set_short(self, short: bool) -> None:
        """Leaves the caption out."""
        self._short = short
        self.updateGeometry()
        self.update()

    def _pieces(self) -> list[tuple[str, str]]:
        caption = [] if self._short or not self._caption else [(self._caption, "body")]
        return [*caption, *([(self._value, "strong")] if self._value else [])]

    def sizeHint(self) -> QSize:
        wide = 6 + 18 + 8 + sum(QFontMetrics(theme.font(role)).horizontalAdvance(text) + 6
                                for text, role in self._pieces())
        return QSize(wide + (18 if self._chevron else 2), theme.height(28, padding=8))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect()
        if self.isDown() or self.isChecked() or self.underMouse():
            paint_box(painter, rect, "selected" if self.isDown() or self.isChecked() else "hover", None)
        icons.paint(painter, self._icon, QRect(6, (rect.height() - 18) // 2, 18, 18), "muted")
        x = 6 + 18 + 8
        painter.setPen(theme.color("text"))
        for text, role in self._pieces():
            painter.setFont(theme.font(role))
            painter.drawText(QRect(x, 0, rect.width(), rect.height()), Qt.AlignmentFlag.AlignVCenter, text)
            x += painter.fontMetrics().horizontalAdvance(text) + 6
        if self._chevron:
            icons.paint(painter, "chevron", QRect(x, (rect.height() - 16) // 2, 16, 16), "muted")
        if self.shows_focus():
            paint_focus(painter, rect)


class MapToolbar(Card):
    """Tools, colour, filter, zoom, and what else there is under "...".

    ``toolChosen(str)``, ``colourChosen(ColourBy)``, ``filterWanted()``, ``unitChosen(MapUnit)``,
    ``contoursChosen(bool)``, ``labelsChosen(bool)``; ``wanted(str)`` for ``zoom_out``, ``zoom_in``, ``fit``,
    ``redraw``, ``advanced``, ``picture``, ``csv`` and ``html``.
    """

    toolChosen = Signal(str)
    colourChosen = Signal(object)
    filterWanted = Signal()
    unitChosen = Signal(object)
    contoursChosen = Signal(bool)
    labelsChosen = Signal(bool)
    wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        name(self, "map_toolbar", "Map tools")
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 5, 6, 5)
        row.setSpacing(8)
        self._tools = QButtonGroup(self)
        self.tools: dict[str, IconButton] = {}
        for key, icon, tip, shortcut in TOOLS:
            button = IconButton(icon, tip, object_name=f"map_tool_{key}", shortcut=shortcut, checkable=True)
            button.clicked.connect(lambda _=False, key=key: self.toolChosen.emit(key))
            self._tools.addButton(button)
            self.tools[key] = button
            row.addWidget(button)
        self.tools["pan"].setChecked(True)
        row.addWidget(Line(vertical=True, length=20))
        self.colour = ValueButton("palette", "Colour by", "map_colour")
        self.colour.setMenu(self._make_colours())
        self.colour.set_value(COLOUR_BY[ColourBy.THEME])
        self.filter = ValueButton("filter", "", "map_filter", chevron=False)
        self.filter.clicked.connect(self.filterWanted)
        self.set_filter("", 0)
        row.addWidget(self.colour)
        row.addWidget(self.filter)
        self._before_zoom = Line(vertical=True, length=20)
        row.addWidget(self._before_zoom)
        self.zoom_out = self._button(row, "minus", "Zoom out", "zoom_out", "-")
        self.zoom_in = self._button(row, "plus", "Zoom in", "zoom_in", "=")
        self.fit = self._button(row, "fit", "Fit the map into the window", "fit", "F")
        self.more = IconButton("more", "More about the map", object_name="map_more")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more_menu = self._make_more()
        self.more.clicked.connect(self._open_more)
        row.addWidget(self.more)
        theme.themeChanged.connect(self._recolour)

    def _button(self, row: QHBoxLayout, icon: str, tip: str, key: str, shortcut: str) -> IconButton:
        button = IconButton(icon, tip, object_name=f"map_{key}", shortcut=shortcut)
        button.clicked.connect(lambda _=False: self.wanted.emit(key))
        row.addWidget(button)
        return button

    def _make_colours(self) -> QMenu:
        made = menu(self, "map_colour_menu", "Colour by")
        group = QActionGroup(made)
        self.colour_actions: dict[ColourBy, QAction] = {}
        for by, text in COLOUR_BY.items():
            action = made.addAction(text[0].upper() + text[1:])
            action.setObjectName(f"map_colour_{by.value}")
            action.setCheckable(True)
            action.setChecked(by is ColourBy.THEME)
            group.addAction(action)
            action.triggered.connect(lambda _=False, by=by: self.colourChosen.emit(by))
            self.colour_actions[by] = action
        return made

    def _make_more(self) -> QMenu:
        made = menu(self, "map_more_menu", "More about the map")
        self.actions_of: dict[str, QAction] = {}
        self._icons: list[tuple[QAction, str]] = []

        def add(key: str, text: str, *, icon: str = "", checkable: bool = False) -> QAction:
            action = made.addAction(no_mnemonic(text))
            action.setObjectName(f"map_action_{key}")
            action.setCheckable(checkable)
            self.actions_of[key] = action
            if icon:
                self._icons.append((action, icon))
            if not checkable:
                action.triggered.connect(lambda _=False: self.wanted.emit(key))
            return action

        units = QActionGroup(made)
        for unit, text in ((MapUnit.DOCUMENTS, "Points are documents"), (MapUnit.PASSAGES, "Points are passages")):
            action = add(unit.value, text, checkable=True)
            units.addAction(action)
            action.triggered.connect(lambda _=False, unit=unit: self.unitChosen.emit(unit))
        self.actions_of["documents"].setChecked(True)
        made.addSeparator()
        add("labels", "Show labels", checkable=True).setChecked(True)
        add("contours", "Show contours", checkable=True)
        self.actions_of["labels"].toggled.connect(self.labelsChosen)
        self.actions_of["contours"].toggled.connect(self.contoursChosen)
        made.addSeparator()
        add("redraw", "Redraw the map", icon="refresh")
        add("advanced", "Advanced...", icon="sliders")
        made.addSeparator()
        add("picture", "Export picture...", icon="export")
        add("csv", "Export table (CSV)...", icon="table")
        add("html", "Export page (HTML)...", icon="web")
        self._recolour()
        return made

    def _recolour(self) -> None:
        for action, icon in self._icons:
            action.setIcon(icons.icon(icon, 16))
        self.adjustSize()

    def _open_more(self) -> None:
        self.more_menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    # ---- showing

    def show_tool(self, tool: str) -> None:
        """Marks the tool in force."""
        if tool in self.tools:
            self.tools[tool].setChecked(True)

    def show_colour(self, by: ColourBy) -> None:
        """Shows what points are coloured by."""
        self.colour_actions[by].setChecked(True)
        self.colour.set_value(COLOUR_BY[by])
        self.adjustSize()

    def show_unit(self, unit: MapUnit) -> None:
        """Shows what a point is."""
        self.actions_of[unit.value].setChecked(True)

    def set_filter(self, dates: str, hidden: int) -> None:
        """Shows what is filtered: a range of dates in words, and how many groups are hidden."""
        pieces = [dates] if dates else []
        if hidden:
            pieces.append(f"{hidden} hidden")
        self.filter.set_value(", ".join(pieces), accessible=f"Filter: {', '.join(pieces) or 'nothing is filtered'}")
        self.adjustSize()

    def set_busy(self, busy: bool, *, read_only: bool = False) -> None:
        """Greys what waits until the map is laid out."""
        for key in ("redraw", "advanced"):
            self.actions_of[key].setEnabled(not busy)
        for key in ("picture", "csv", "html"):
            self.actions_of[key].setEnabled(not busy)

    def set_room(self, width: int) -> None:
        """Fits it into a width: first captions go, then zooming, which the wheel and the keys do as well."""
        zoom = (self._before_zoom, self.zoom_out, self.zoom_in)
        for short, hidden in ((False, False), (True, False), (True, True)):
            self.colour.set_short(short)
            for widget in zoom:
                widget.setVisible(not hidden)
            layout = self.layout()
            assert layout is not None
            layout.invalidate()
            if self.sizeHint().width() <= width:
                break
        self.adjustSize()
