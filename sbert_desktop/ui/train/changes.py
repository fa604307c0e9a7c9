"""What would change: questions, searches side by side, groups of duplicates, and the map with arrows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import Arrow, ComparisonView, SideBySide
from sbert_desktop.ui import words
from sbert_desktop.ui.library.tables import Column
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.arrows import ArrowMap, arrows_words, way_words
from sbert_desktop.ui.train.changes_table import PLAIN, UNJUDGED, FlushTable, changes_table, show_changes
from sbert_desktop.ui.train.comparing_words import in_order, rank
from sbert_desktop.ui.widgets import Button, ElidedLabel, IconButton, Label, Segmented, announce, name

PARTS: Final = (("questions", "Questions"), ("searches", "Searches"), ("map", "Map"))
SAMPLE: Final = "Places are those by meaning alone, in a sample of your library."
NOTHING: Final = {
    "questions": "No question was asked anew: judge answers to questions, or save a search, and they are compared.",
    "searches": "There was no search to compare.",
}


def groups_words(view: ComparisonView) -> str:
    """Gives how groups of duplicates would change, in one sentence."""
    gained, lost = view.groups_gained, view.groups_lost
    if not gained and not lost:
        return "Duplicates: the same groups would be found."
    parts = [f"{words.counted(gained, 'group')} more would be found"] if gained else []
    if lost:
        parts.append(f"{words.counted(lost, 'group')} would not be found any more")
    return f"Duplicates: {words.listed(parts)}."


@dataclass(frozen=True, slots=True)
class Place:
    """One hit of a search: its place, and its place with the other model (0: not among those shown)."""

    at: int
    title: str
    other: int
    tuned: bool

    def words(self) -> str:
        """Gives what became of it: ``was 3rd``, ``new``, ``goes to 2nd``, ``gone``."""
        if self.tuned:
            return "new" if not self.other else "" if self.other == self.at else f"was {rank(self.other)}"
        return "gone" if not self.other else "" if self.other == self.at else f"goes to {rank(self.other)}"

    def way(self) -> int:
        """Gives 1 for one that comes up, -1 for one that falls, 2 for a new one, -2 for one that goes, else 0."""
        if not self.other:
            return 2 if self.tuned else -2
        before, after = (self.other, self.at) if self.tuned else (self.at, self.other)
        return (before > after) - (before < after)


def places(titles: tuple[str, ...], others: tuple[str, ...], *, tuned: bool) -> tuple[Place, ...]:
    """Lines the hits of one model up with those of the other."""
    return tuple(Place(at, title, others.index(title) + 1 if title in others else 0, tuned)
                 for at, title in enumerate(titles, 1))


def differing(search: SideBySide) -> int:
    """Gives how many of the places of a search hold another document."""
    pairs = zip(search.now, search.tuned, strict=False)
    return sum(one != other for one, other in pairs) + abs(len(search.now) - len(search.tuned))


class SearchesPart(QWidget):
    """The searches; of the one chosen, what is found now beside what would be found."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(16)
        self.list = FlushTable(
            (Column("Search", lambda row: row.query, least=160),  # type: ignore[attr-defined]
             Column("Kind", lambda row: "saved" if row.saved else "sample", 84, tone="muted"),  # type: ignore[attr-defined]
             Column("Places that change", lambda row: f"{differing(row)} of "  # type: ignore[arg-type]
                    f"{max(len(row.now), len(row.tuned))}", 128, right=True)),  # type: ignore[attr-defined]
            object_name="train_changes_searches", accessible="Searches", picks=True)
        self.pair = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.pair.setSpacing(24)
        self.now, self.tuned = self._side("now", tuned=False), self._side("tuned", tuned=True)
        self.pair.addWidget(self.now, 1)
        self.pair.addWidget(self.tuned, 1)
        column.addWidget(self.list, 1)
        column.addLayout(self.pair, 1)
        self.list.currentRowChanged.connect(self._on_search)

    def _side(self, key: str, *, tuned: bool) -> FlushTable:
        def place(row: object) -> Place:
            assert isinstance(row, Place)
            return row

        return FlushTable(
            (Column("", lambda row: rank(place(row).at), 44, tone="muted"),
             Column("Tuned" if tuned else "Now", lambda row: place(row).title, elide=Qt.TextElideMode.ElideMiddle,
                    least=100),
             Column("", lambda row: place(row).words(), 92, right=True)),
            object_name=f"train_changes_{key}", accessible="Found by the tuned model" if tuned else "Found now",
            arrow=lambda row: place(row).way(), looks=PLAIN)

    def show_searches(self, searches: tuple[SideBySide, ...], base: str, name_: str) -> None:
        """Shows searches; those that the person saved stand first."""
        ordered = sorted(searches, key=lambda search: (not search.saved, -differing(search)))
        for table, text in ((self.now, f"Now ({base})"), (self.tuned, f"Tuned ({name_})")):
            model = table.rows_model
            model.columns = (model.columns[0], _headed(model.columns[1], text), model.columns[2])
        self.list.set_rows(ordered)
        if ordered:
            self.list.selectRow(0)
        self._on_search(ordered[0] if ordered else None)

    def _on_search(self, search: object) -> None:
        now: tuple[Place, ...] = ()
        tuned: tuple[Place, ...] = ()
        if isinstance(search, SideBySide):
            now = places(search.now, search.tuned, tuned=False)
            tuned = places(search.tuned, search.now, tuned=True)
        self.now.set_rows(now)
        self.tuned.set_rows(tuned)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= 520 * max(100, theme.text_scale) // 100
        self.pair.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)


def _headed(column: Column, head: str) -> Column:
    from dataclasses import replace

    return replace(column, head=head)


class MapPart(QWidget):
    """The map with arrows; "As a table" shows the same in rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(12)
        self.sentence = Label("", role="meta", tone="muted", wrap=True, object_name="train_changes_map_sentence")
        self.switch = Button("As a table", size="small", icon="table", object_name="train_changes_map_switch")
        row.addWidget(self.sentence, 1)
        row.addWidget(self.switch, 0, Qt.AlignmentFlag.AlignTop)
        self.map = ArrowMap()
        self.table = FlushTable(
            (Column("Document", lambda row: row.title, elide=Qt.TextElideMode.ElideMiddle),  # type: ignore[attr-defined]
             Column("On the map", lambda row: way_words(row), 190, tone="muted",  # type: ignore[arg-type]
                    right=True)),
            object_name="train_changes_map_table", accessible="What would move on the map")
        self.looked = Label("", wrap=True, object_name="train_changes_map_looked")
        self.looked.setMinimumHeight(theme.line("body", 20))
        self.stack = QStackedWidget()
        self.stack.setObjectName("train_changes_map_stack")
        self.stack.addWidget(self.map)
        self.stack.addWidget(self.table)
        column.addLayout(row)
        column.addWidget(self.stack, 1)
        column.addWidget(self.looked)
        self.switch.clicked.connect(self._on_switch)
        self.map.lookedAt.connect(self._on_look)

    def show_arrows(self, arrows: tuple[Arrow, ...]) -> None:
        """Shows how documents would move."""
        self.map.show_arrows(arrows)
        self.table.set_rows(self.map.arrows())
        moved = arrows_words(arrows)
        self.sentence.setText(f"{moved} Both maps are laid over each other; a dot is where a document is now."
                              if arrows else moved)
        self.switch.setEnabled(bool(arrows))
        self._on_look(-1)

    def _on_switch(self) -> None:
        table = self.stack.currentWidget() is self.map
        self.stack.setCurrentWidget(self.table if table else self.map)
        self.switch.setText("As a map" if table else "As a table")
        self.switch.set_icon("map" if table else "table")
        self.looked.setVisible(not table)

    def _on_look(self, _at: int) -> None:
        arrow = self.map.looked_at()
        self.looked.setText(f"{arrow.title}: {way_words(arrow)}" if arrow is not None else
                            "Point at a document, or press the arrow keys, to see which one it is.")
        theme.set_tone(self.looked, "text" if arrow is not None else "muted")


class ChangesPane(QWidget):
    """All that would change. ``backWanted``: back to the comparison."""

    backWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_changes", "What would change")
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        head = QHBoxLayout()
        head.setSpacing(8)
        self.back = IconButton("undo", "Back to the comparison", object_name="train_changes_back", shortcut="Esc")
        head.addWidget(self.back)
        head.addWidget(ElidedLabel("What would change for you", role="section", object_name="train_changes_title"), 1)
        self.choice = Segmented(PARTS, object_name="train_changes_part", accessible="What is shown")
        head.addWidget(self.choice)
        column.addLayout(head)
        self.groups = Label("", tone="muted", wrap=True, object_name="train_changes_groups")
        column.addWidget(self.groups)
        self.questions = changes_table("train_changes_questions")
        self.searches, self.moves = SearchesPart(), MapPart()
        self.nothing = Label("", tone="muted", wrap=True, object_name="train_changes_nothing")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.stack = QStackedWidget()
        self.stack.setObjectName("train_changes_stack")
        for widget in (self.questions, self.searches, self.moves, self.nothing):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self._view: ComparisonView | None = None
        self.back.clicked.connect(self.backWanted)
        self.choice.changed.connect(lambda _: self._on_part())

    def show_comparison(self, view: ComparisonView) -> None:
        """Shows what a comparison says would change."""
        self._view = view
        self.groups.setText(groups_words(view) if view.kind != "cross-encoder" else "")
        unjudged = show_changes(self.questions, in_order(view.changes))
        self.groups.setText(f"{self.groups.text()} {SAMPLE} {UNJUDGED if unjudged else ''}".strip())
        self.searches.show_searches(view.searches, view.base_name, view.name)
        self.moves.show_arrows(view.arrows)
        self.choice.set_value("questions" if view.changes or not view.searches else "searches")
        self._on_part()

    def show_part(self, key: str) -> None:
        """Goes to ``questions``, ``searches`` or ``map``."""
        self.choice.set_value(key)
        self._on_part()

    def focus_first(self) -> None:
        """Puts the focus into what is shown."""
        part = {"questions": self.questions, "searches": self.searches.list,
                "map": self.moves.map if self.moves.stack.currentWidget() is self.moves.map else self.moves.table}
        found = part[self.choice.value()]
        (found if found.isVisible() else self.back).setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_part(self) -> None:
        view = self._view
        if view is None:
            return
        part = self.choice.value()
        empty = (part == "questions" and not view.changes) or (part == "searches" and not view.searches)
        if empty:
            self.nothing.setText(NOTHING[part])
            announce(self.nothing, NOTHING[part])
        shown = {"questions": self.questions, "searches": self.searches, "map": self.moves}[part]
        self.stack.setCurrentWidget(self.nothing if empty else shown)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.backWanted.emit()
        else:
            super().keyPressEvent(event)
