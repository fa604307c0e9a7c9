"""How far the map can be trusted: in words in its corner, in figures in the tooltip and in a small panel."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QToolButton, QWidget

from sbert_desktop.app.atlas_views import MapView
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.map.popover import Popover
from sbert_desktop.ui.map.words import counted, quality
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, Label, name, paint_box, paint_focus, plain_tip

TRUST = "How rarely strangers lie side by side"
KEPT = "Of the nearest neighbours, kept as neighbours on the map"


class QualityBadge(KeyboardFocus, QToolButton):
    """A frame of 40 high: "Map quality **good**". Pressing it opens :class:`QualityPanel`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("map_quality")
        theme.set_role(self, "body")
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Map quality")
        self._word = self._tail = ""
        self._tone = "good"
        self._short = False
        self.hide()

    def show_quality(self, view: MapView | None) -> None:
        """Shows a map's quality; hidden where none was measured."""
        self._word, self._tone, sentence = quality(view) if view is not None and view.quality else ("", "muted", "")
        measured = view is not None and view.trustworthiness and view.quality != "exact"
        self._tail = f", {view.trustworthiness:.2f}" if view is not None and measured else ""
        self.setVisible(bool(self._word))
        if view is None or not self._word:
            return
        self.setAccessibleName(f"Map quality {self._word}")
        figures = figures_of(view)
        self.setAccessibleDescription(" ".join([sentence, *(f"{what}: {value}." for what, value in figures)]))
        self.setToolTip(plain_tip(sentence + "".join(f"\n{what}: {value}" for what, value in figures)))
        self.updateGeometry()
        self.adjustSize()

    def has_words(self) -> bool:
        """True where a quality was measured."""
        return bool(self._word)

    def set_short(self, short: bool) -> None:
        """Leaves the first words out where there is no room for them."""
        self._short = short
        self.updateGeometry()
        self.adjustSize()

    def _pieces(self) -> list[tuple[str, str]]:
        head = "Quality " if self._short else "Map quality "
        return [(head, "body"), (self._word, "strong"), ("" if self._short else self._tail, "body")]

    def sizeHint(self) -> QSize:
        wide = sum(QFontMetrics(theme.font(role)).horizontalAdvance(text) for text, role in self._pieces())
        return QSize(12 + 18 + 8 + wide + 14, theme.height(40, padding=20))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect()
        paint_box(painter, rect, "selected" if self.isDown() else "hover" if self.underMouse() else "raised", "border")
        icon = "gauge" if self._tone == "good" else "warning"
        icons.paint(painter, icon, QRect(12, (rect.height() - 18) // 2, 18, 18), self._tone)
        x = 12 + 18 + 8
        painter.setPen(theme.color("text"))
        for text, role in self._pieces():
            painter.setFont(theme.font(role))
            painter.drawText(QRect(x, 0, rect.width(), rect.height()), Qt.AlignmentFlag.AlignVCenter, text)
            x += painter.fontMetrics().horizontalAdvance(text)
        if self.shows_focus():
            paint_focus(painter, rect)


def figures_of(view: MapView) -> list[tuple[str, str]]:
    """Gives what was measured: a name and a value each; nothing where the map is exact."""
    out = []
    if view.trustworthiness:
        out.append((TRUST, f"{view.trustworthiness:.2f} of 1"))
    if view.kept:
        out.append((KEPT, f"{view.kept:.0%}"))
    return out


class QualityPanel(Popover):
    """The sentence, the figures, and how the map was made."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, "map_quality_panel", "Map quality", width=320)
        self.title = Label("", role="section", object_name="map_quality_title")
        self.sentence = Label("", wrap=True, object_name="map_quality_sentence")
        self.column.addWidget(self.title)
        self.column.addWidget(self.sentence)
        grid = QWidget()
        self._grid = QGridLayout(grid)
        self._grid.setContentsMargins(0, 4, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(0, 4)
        self._grid.setColumnStretch(1, 3)
        self._cells: list[tuple[Label, Label]] = []
        for at in range(5):
            what = Label("", role="meta", tone="muted", wrap=True, object_name=f"map_quality_what_{at}")
            value = Label("", role="meta_strong", wrap=True, object_name=f"map_quality_value_{at}")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(what, at, 0)
            self._grid.addWidget(value, at, 1, Qt.AlignmentFlag.AlignTop)
            self._cells.append((what, value))
        self.column.addWidget(grid)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        name(self, "map_quality_panel", "Map quality")

    def show_view(self, view: MapView) -> None:
        """Tells of a map."""
        word, _, sentence = quality(view)
        self.title.setText(f"Map quality {word}")
        self.sentence.setText(sentence)
        rules = view.request.rules
        method = "PCA" if view.request.method == "pca" else f"UMAP, {rules.neighbours} neighbours"
        rows = [*figures_of(view), ("Points", counted(int(view.counts.sum()), view.request.unit)),
                ("Laid out by", method)]
        if view.seconds:
            rows.append(("Took", words.duration(view.seconds)))
        for at, (what, value) in enumerate(self._cells):
            there = at < len(rows)
            what.setVisible(there)
            value.setVisible(there)
            if there:
                what.setText(rows[at][0])
                value.setText(rows[at][1])
        self.setAccessibleDescription(" ".join([sentence, *(f"{what}: {value}." for what, value in rows)]))
