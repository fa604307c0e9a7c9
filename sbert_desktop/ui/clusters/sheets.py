"""Two sheets of the Clusters page: how many clusters, and which cluster is meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListWidget, QListWidgetItem, QSizePolicy, QWidget

from sbert_desktop.app.atlas_views import ClusterRequest, ClustersView, Curve, Method, ThemeView
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.clusters.words import label_of
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, CheckBox, Label, NumberBox, announce, name, plain_tip

MOST: Final = 500
IdRole: Final = Qt.ItemDataRole.UserRole + 1


class CurvePlot(QWidget):
    """What each number of clusters would give: how clear they are (higher is better), how loose (falls)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curve: Curve | None = None
        self._chosen = 0
        name(self, "clusters_curve", "What each number of clusters would give")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.themeChanged.connect(self.updateGeometry)

    def show_curve(self, curve: Curve | None, chosen: int) -> None:
        """Shows a curve, with a number marked."""
        self._curve, self._chosen = curve, chosen
        self.setVisible(curve is not None and len(curve.counts) > 1)
        if curve is not None:
            rows = "; ".join(f"{count}: clearness {one:.2f}, looseness {loss:.2f}" for count, one, loss in
                             zip(curve.counts.tolist(), curve.silhouettes.tolist(), curve.losses.tolist(), strict=True))
            self.setAccessibleDescription(f"{curve_words(curve)} {rows}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, 176 + 2 * theme.line("meta"))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._curve is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        half = (self.height() - theme.line("meta") - 8) // 2
        curve = self._curve
        for at, (values, title, best) in enumerate((
                (curve.silhouettes.tolist(), "How clear (silhouette)", curve.by_silhouette),
                (curve.losses.tolist(), "How loose (elbow)", curve.by_elbow))):
            self._paint(painter, QRect(0, at * half, self.width(), half), values, title, best)
        self._paint_axis(painter, QRect(0, 2 * half, self.width(), self.height() - 2 * half))

    def _x(self, count: int) -> float:
        assert self._curve is not None
        counts = self._curve.counts
        low, high = int(counts[0]), int(counts[-1])
        return 8 + (self.width() - 24) * (count - low) / max(1, high - low)

    def _paint(self, painter: QPainter, room: QRect, values: Sequence[float], title: str, best: int) -> None:
        assert self._curve is not None
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        head = QRect(room.x() + 8, room.y(), room.width() - 16, theme.line("meta"))
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft, title)
        painter.drawText(head, Qt.AlignmentFlag.AlignRight, f"best at {best}")
        box = QRectF(room.x(), head.bottom() + 6, room.width(), room.bottom() - head.bottom() - 16)
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawLine(QPointF(8, box.bottom()), QPointF(self.width() - 16, box.bottom()))
        low, high = min(values), max(values)
        span = (high - low) or 1.0
        points = [QPointF(self._x(count), box.bottom() - (value - low) / span * box.height())
                  for count, value in zip(self._curve.counts.tolist(), values, strict=True)]
        painter.setPen(QPen(theme.color("accent"), 1.5))
        painter.drawPolyline(points)
        for count, point in zip(self._curve.counts.tolist(), points, strict=True):
            if count == best:
                painter.setBrush(theme.color("accent"))
                painter.drawEllipse(point, 4, 4)
        if self._curve.counts[0] <= self._chosen <= self._curve.counts[-1]:
            painter.setPen(QPen(theme.color("text"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(self._x(self._chosen), box.top()), QPointF(self._x(self._chosen), box.bottom()))

    def _paint_axis(self, painter: QPainter, room: QRect) -> None:
        assert self._curve is not None
        painter.setFont(theme.numbers_font("meta"))
        painter.setPen(theme.color("muted"))
        line = QRect(8, room.y(), self.width() - 24, theme.line("meta"))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, str(int(self._curve.counts[0])))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, words.counted(int(self._curve.counts[-1]), "cluster"))


def curve_words(curve: Curve) -> str:
    """Gives what both curves advise."""
    if curve.by_silhouette == curve.by_elbow:
        return f"Both curves advise {words.counted(curve.by_elbow, 'cluster')}."
    return f"The clearest are {words.counted(curve.by_silhouette, 'cluster')}; after {curve.by_elbow} more help little."


class HowManySheet(Sheet):
    """How many clusters k-means makes, with what each number would give; and the draw it starts from."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, width=520)
        name(self, "clusters_how_many_sheet", "How many clusters?")
        self._done: Callable[[ClusterRequest], object] = lambda _: None
        self._request = ClusterRequest()
        self.title = Label("How many clusters?", role="page_title", object_name="clusters_how_many_title")
        self.said = Label("", tone="muted", wrap=True, object_name="clusters_how_many_said")
        self.plot = CurvePlot()
        self.by_itself = CheckBox("As many as the documents say", object_name="clusters_by_itself")
        self.number = NumberBox(object_name="clusters_number", accessible="Number of clusters", unit="clusters")
        self.number.setRange(2, MOST)
        self.seed = NumberBox(object_name="clusters_seed", accessible="Draw")
        self.seed.setRange(0, 9999)
        for widget in (self.title, self.said, self.plot, self.by_itself):
            self.column.addWidget(widget)
        for text, box, own in (("Number", self.number, "clusters_number_caption"),
                               ("Draw (seed)", self.seed, "clusters_seed_caption")):
            row = QHBoxLayout()
            row.addWidget(Label(text, object_name=own), 1)
            row.addWidget(box)
            self.column.addLayout(row)
        self.note = Label("", role="meta", tone="muted", wrap=True, object_name="clusters_how_many_note")
        self.column.addWidget(self.note)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.cancel = Button("Cancel", object_name="clusters_how_many_cancel")
        self.go = Button("Find clusters", kind="primary", object_name="clusters_how_many_find")
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.go)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        self.by_itself.toggled.connect(self._on_by_itself)
        self.number.valueChanged.connect(self._on_number)
        self.seed.valueChanged.connect(lambda _: self._say())
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.go.clicked.connect(self._on_find)

    def ask(self, view: ClustersView, done: Callable[[ClusterRequest], object]) -> None:
        """Asks; ``done`` takes the request."""
        self._done, self._request = done, view.request
        curve = view.curve
        count = view.request.count or max(2, len(view.themes))
        self.said.setText(curve_words(curve) if curve is not None else
                          "k-means measures both curves when it finds clusters by itself.")
        self.number.setMaximum(max(2, min(MOST, view.documents)))
        self.number.blockSignals(True)
        self.number.setValue(count)
        self.number.blockSignals(False)
        self.by_itself.blockSignals(True)
        self.by_itself.setChecked(view.request.count is None)
        self.by_itself.blockSignals(False)
        self.seed.setValue(view.request.seed)
        self.plot.show_curve(curve, count)
        self._say()
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.number

    def _on_number(self, count: int) -> None:
        self.by_itself.blockSignals(True)
        self.by_itself.setChecked(False)
        self.by_itself.blockSignals(False)
        self.plot.show_curve(self.plot._curve, count)
        self._say()

    def _on_by_itself(self, _on: bool) -> None:
        self._say()

    def _say(self) -> None:
        counted = self._request.method in (Method.AUTO, Method.COMMUNITIES, Method.KMEANS)
        self.note.setText("Another draw may sort documents that lie between clusters otherwise." if counted else
                          "This method finds its own number: with a number, k-means is used.")

    def _on_find(self) -> None:
        self.number.interpretText()
        count = None if self.by_itself.isChecked() else self.number.value()
        method = self._request.method
        if count is not None and method in (Method.HDBSCAN, Method.THRESHOLD):
            method = Method.KMEANS
        self.close_sheet(True)
        self._done(replace(self._request, method=method, count=count, detail=0.0, seed=self.seed.value()))


class _Line(QLineEdit):
    """The arrows move the choice below while the focus stays here."""

    moved = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        if step is not None:
            self.moved.emit(step)
            return
        super().keyPressEvent(event)


class PickSheet(Sheet):
    """Which cluster is meant: a line to type in, and those that fit."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, width=440)
        name(self, "clusters_pick_sheet", "Choose a cluster")
        self._themes: tuple[ThemeView, ...] = ()
        self._done: Callable[[int], object] = lambda _: None
        self.title = Label("", role="page_title", wrap=True, object_name="clusters_pick_title")
        self.edit = _Line()
        name(self.edit, "clusters_pick_edit", "Cluster", "Arrow keys choose, Enter takes it, Escape closes")
        self.edit.setPlaceholderText("Find a cluster")
        theme.set_role(self.edit, "body")
        self.list = QListWidget()
        name(self.list, "clusters_pick_list", "Clusters")
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme.set_role(self.list, "body")
        for widget in (self.title, self.edit, self.list):
            self.column.addWidget(widget)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.cancel = Button("Cancel", object_name="clusters_pick_cancel")
        self.take = Button("Choose", kind="primary", object_name="clusters_pick_take")
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.take)
        self.column.addLayout(foot)
        self.edit.textChanged.connect(lambda _: self._fill())
        self.edit.returnPressed.connect(self._on_take)
        self.edit.moved.connect(self._on_moved)
        self.list.clicked.connect(self._on_clicked)
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.take.clicked.connect(self._on_take)

    def ask(self, title: str, action: str, themes: Sequence[ThemeView], done: Callable[[int], object]) -> None:
        """Asks for one of these; ``done`` takes its id."""
        self._themes, self._done = tuple(themes), done
        self.title.setText(title)
        self.take.setText(action)
        self.edit.clear()
        self._fill()
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.edit

    def _fill(self) -> None:
        wanted = self.edit.text().casefold().split()
        fits = [one for one in self._themes if all(word in label_of(one).casefold() for word in wanted)]
        self.list.clear()
        for one in fits:
            item = QListWidgetItem(dot_icon(theme.group_color(one.colour)),
                                   f"{label_of(one)}  ({words.count(one.size)})")
            item.setData(IdRole, one.id)
            item.setToolTip(plain_tip(label_of(one)))
            item.setSizeHint(item.sizeHint().expandedTo(icons.size_of(theme.height(32, padding=12))))
            self.list.addItem(item)
        self.list.setCurrentRow(0 if fits else -1)
        self.list.setFixedHeight(max(1, min(8, len(self._themes))) * theme.height(32, padding=12) + 8)
        self.take.setEnabled(bool(fits))
        if self.isVisible():
            announce(self.list, words.counted(len(fits), "cluster"))

    def _on_moved(self, step: int) -> None:
        if self.list.count():
            self.list.setCurrentRow((self.list.currentRow() + step) % self.list.count())

    def _on_clicked(self, index: QModelIndex) -> None:
        self.list.setCurrentRow(index.row())
        self._on_take()

    def _on_take(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            chosen = int(item.data(IdRole))
            self.close_sheet(True)
            self._done(chosen)


def dot_icon(color: QColor) -> QIcon:
    """Gives a disc as an icon of 16, for menus and lists."""
    picture = QPixmap(32, 32)
    picture.setDevicePixelRatio(2)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(QRectF(3, 3, 10, 10))
    painter.end()
    return QIcon(picture)


def sheet_of(window: QWidget, kind: type[HowManySheet] | type[PickSheet], object_name: str
             ) -> HowManySheet | PickSheet:
    """Gives the window's sheet of a kind, made when it is first needed."""
    found = window.findChild(kind, object_name)
    return found if found is not None else kind(window)
