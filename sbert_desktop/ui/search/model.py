"""The result list as a model: documents, and the passages of those that are open.

A QListView shows one level, so the tree of documents and passages is kept flat: each open
document's passages follow it as rows of their own, which is how the arrow keys reach them.
QtCore only; the delegate knows how rows look.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from sbert_desktop.app.views import DocumentView, HitView, SearchView, Span
from sbert_desktop.domain import ScoreKind, short_path
from sbert_desktop.ui.addresses import address_of
from sbert_desktop.ui.naming import file_words, member_words
from sbert_desktop.ui.search.text import Snippet, make_snippet, one_line
from sbert_desktop.ui.words import counted, day

Index = QModelIndex | QPersistentModelIndex
MAIL_FORMATS = frozenset({"eml", "mbox", "msg", "mail", "emlx"})
_NO_PARENT = QModelIndex()


class Kind(StrEnum):
    """What a row is."""

    DOCUMENT = "document"
    PASSAGE = "passage"
    REST = "rest"  # further passages of an open document that were not fetched
    FOOTER = "footer"  # further documents that were not fetched
    CHANCE = "chance"  # the line below which nothing is closer in meaning than chance


class Order(StrEnum):
    """How documents are sorted."""

    BEST = "best"
    NEWEST = "newest"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its kind, the number of its document in the view and of its hit in the document."""

    kind: Kind
    document: int
    hit: int = 0


def date_text(seconds: float) -> str:
    """Gives a date as ``14 Mar 2023``; nothing for no date."""
    return day(seconds) if seconds > 0 else ""


def title_of(document: DocumentView) -> str:
    """Gives what names a document in the list: a mail's subject, container and member, else the file's name."""
    if document.member:
        return one_line(file_words(document.path, document.member))
    if document.format in MAIL_FORMATS and document.title:
        return one_line(document.title)
    return one_line(document.path.name) or one_line(document.title)


def heading_of(document: DocumentView) -> str:
    """Gives the document's own title where the file's name does not say it already, else ``""``."""
    title = one_line(document.title)
    plain = "".join(ch for ch in title.casefold() if ch.isalnum())
    own = member_words(document.member).rpartition("/")[2] if document.member else document.path.stem
    name = "".join(ch for ch in own.casefold() if ch.isalnum())
    if document.member and plain in name:  # a message is named by its subject, a file in an archive by its stem
        return ""
    return "" if not plain or plain == name or title == title_of(document) else title


def place_of(document: DocumentView) -> str:
    """Gives where a document lies: a mail's whole path, else the folder of the file."""
    mail = document.format in MAIL_FORMATS and bool(document.title) and not document.member
    return short_path(document.path if mail else document.path.parent)


class ResultModel(QAbstractListModel):
    """The rows of one answer.

    Everything but Marks and an answer of the same order resets the model; those two change rows
    in place, so nothing moves under the pointer. ``revision`` of a row rises when its text changed.
    """

    KindRole = Qt.ItemDataRole.UserRole + 1
    DocumentRole = Qt.ItemDataRole.UserRole + 2
    HitRole = Qt.ItemDataRole.UserRole + 3

    expanded = Signal(int, bool)  # document number, open

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view: SearchView | None = None
        self._documents: list[DocumentView] = []
        self._rows: list[Row] = []
        self._open: set[int] = set()  # content ids
        self._marks: dict[int, Span] = {}
        self._snippets: dict[int, Snippet] = {}
        self._bars: list[float] = []
        self._order = Order.BEST
        self._limit = 0

    # content -----------------------------------------------------------------------------
    @property
    def view(self) -> SearchView | None:
        """The answer shown."""
        return self._view

    @property
    def order(self) -> Order:
        """How the documents are sorted."""
        return self._order

    @property
    def documents(self) -> list[DocumentView]:
        """The documents in the order shown."""
        return self._documents

    def set_view(self, view: SearchView | None, *, limit: int = 0, keep_open: bool = False) -> None:
        """Shows an answer; ``limit`` is how many documents were asked for (a full list offers more)."""
        self.beginResetModel()
        if not keep_open:
            self._open.clear()
            self._marks.clear()
        self._snippets.clear()
        self._view = view
        self._limit = limit
        self._documents = self._sorted(view.documents if view else ())
        self._build()
        self.endResetModel()

    def update_view(self, view: SearchView) -> bool:
        """Takes an answer in place if it shows the same rows; False (and no change) if it does not."""
        if not self.same_order(view):
            return False
        documents = self._sorted(view.documents)
        changed = [n for n, (old, new) in enumerate(zip(self._documents, documents, strict=True)) if old != new]
        shapes = any((documents[n].more > 0) != (self._documents[n].more > 0) for n in changed)
        moved = self._chance_place(documents, view.chance) != self._chance_place(self._documents, self._chance())
        self._view = view
        for number in changed:
            for hit in (*self._documents[number].hits, *documents[number].hits):
                self._snippets.pop(hit.passage_id, None)
        if moved or (shapes and self._open):
            self.beginResetModel()
            self._documents = documents
            self._build()
            self.endResetModel()
            return True
        self._documents = documents
        self._bars = self._falling()
        wanted = set(changed)
        for number, row in enumerate(self._rows):
            if row.document in wanted:
                self.dataChanged.emit(self.index(number), self.index(number))
        return True

    def same_order(self, view: SearchView) -> bool:
        """Tells whether an answer lists the same documents with the same passages in the same order."""
        return [self._key(d) for d in self._sorted(view.documents)] == [self._key(d) for d in self._documents]

    def set_judged(self, verdicts: Mapping[int, str]) -> None:
        """Shows what the person said of passages, by id: ``relevant``, ``not relevant`` or ``""``."""
        for number, document in enumerate(self._documents):
            if any(hit.passage_id in verdicts for hit in document.hits):
                self._documents[number] = replace(document, hits=tuple(
                    replace(hit, judged=verdicts.get(hit.passage_id, hit.judged)) for hit in document.hits))
        for number, row in enumerate(self._rows):
            if row.kind in (Kind.DOCUMENT, Kind.PASSAGE) and self._hit(row).passage_id in verdicts:
                self.dataChanged.emit(self.index(number), self.index(number))

    def newer(self, view: SearchView) -> int:
        """Counts the passages of an answer that are not in the one shown."""
        shown = {hit.passage_id for document in self._documents for hit in document.hits}
        return sum(hit.passage_id not in shown for document in view.documents for hit in document.hits)

    def apply_marks(self, spans: Mapping[int, Span]) -> None:
        """Marks best sentences that were found after the list was shown; no row changes its height."""
        self._marks.update(spans)
        for passage in spans:
            self._snippets.pop(passage, None)
        for number, row in enumerate(self._rows):
            if row.kind in (Kind.DOCUMENT, Kind.PASSAGE) and self._hit(row).passage_id in spans:
                self.dataChanged.emit(self.index(number), self.index(number))

    def sort_by(self, order: Order) -> None:
        """Sorts the documents by score, date or name."""
        if order is self._order:
            return
        self._order = order
        if self._view is not None:
            self.beginResetModel()
            self._documents = self._sorted(self._view.documents)
            self._build()
            self.endResetModel()

    # rows --------------------------------------------------------------------------------
    def row(self, number: int) -> Row:
        """Gives a row."""
        return self._rows[number]

    def document_at(self, number: int) -> DocumentView:
        """Gives the document that a row belongs to."""
        return self._documents[self._rows[number].document]

    def hit_at(self, number: int) -> HitView | None:
        """Gives the passage of a row (the best one of a document row), its mark included."""
        row = self._rows[number]
        if row.kind not in (Kind.DOCUMENT, Kind.PASSAGE):
            return None
        hit = self._hit(row)
        mark = self._marks.get(hit.passage_id)
        return replace(hit, best_sentence=mark) if mark is not None and hit.best_sentence is None else hit

    def snippet_at(self, number: int) -> Snippet:
        """Gives the text of a row's passage as it is painted; computed when first asked for."""
        hit = self._hit(self._rows[number])
        found = self._snippets.get(hit.passage_id)
        if found is None:
            mark = hit.best_sentence if hit.best_sentence is not None else self._marks.get(hit.passage_id)
            found = self._snippets[hit.passage_id] = make_snippet(hit.text, mark, hit.words)
        return found

    def bar_at(self, number: int) -> float | None:
        """Gives the length of a document's score bar in 0..1; None where the order is not the score's.

        It never rises downwards, so it cannot contradict the order of the list.
        """
        return self._bars[self._rows[number].document] if self._order is Order.BEST else None

    def is_open(self, number: int) -> bool:
        """Tells whether the document of a row shows its passages."""
        return self.document_at(number).content_id in self._open

    def more_at(self, number: int) -> int:
        """Counts the passages that a closed document hides."""
        document = self.document_at(number)
        return len(document.hits) - 1 + document.more

    def folded_at(self, number: int) -> int:
        """Counts the passages that say nearly the same as a row's and stand behind it."""
        row = self._rows[number]
        if row.kind is Kind.PASSAGE or (row.kind is Kind.DOCUMENT and not self.is_open(number)):
            return self._hit(row).folded
        return 0

    def first_row(self) -> int:
        """Gives the first row that can be chosen."""
        return 1 if self._rows and self._rows[0].kind is Kind.CHANCE else 0

    def chance_words(self, number: int) -> str:
        """Gives what the line of chance says."""
        return CHANCE_ALL if number == 0 else CHANCE_REST

    def is_last(self, number: int) -> bool:
        """Tells whether a row is the last of its document."""
        after = number + 1
        return after >= len(self._rows) or self._rows[after].document != self._rows[number].document

    def row_of_document(self, document: int) -> int:
        """Gives the row number of the n-th document."""
        for number, row in enumerate(self._rows):
            if row.document == document and row.kind is Kind.DOCUMENT:
                return number
        return -1

    def find(self, passage_id: int) -> int:
        """Gives the row that shows a passage: its own, else that of its document; -1 if none."""
        fallback = -1
        for number, row in enumerate(self._rows):
            if row.kind is Kind.PASSAGE and self._hit(row).passage_id == passage_id:
                return number
            hits = self._documents[row.document].hits if row.kind is Kind.DOCUMENT and fallback < 0 else ()
            if any(hit.passage_id == passage_id for hit in hits):
                fallback = number
        return fallback

    def set_open(self, number: int, wanted: bool) -> bool:
        """Opens or closes the document of a row; tells whether anything changed."""
        row = self._rows[number]
        if row.document < 0:
            return False
        document = self._documents[row.document]
        head = self.row_of_document(row.document)
        if wanted == (document.content_id in self._open) or (wanted and self.more_at(head) == 0):
            return False
        children = self._children(row.document)
        if wanted:
            self._open.add(document.content_id)
            self.beginInsertRows(_NO_PARENT, head + 1, head + len(children))
            self._rows[head + 1 : head + 1] = children
            self.endInsertRows()
        else:
            self._open.discard(document.content_id)
            self.beginRemoveRows(_NO_PARENT, head + 1, head + len(children))
            del self._rows[head + 1 : head + 1 + len(children)]
            self.endRemoveRows()
        self.dataChanged.emit(self.index(head), self.index(head))
        self.expanded.emit(row.document, wanted)
        return True

    # QAbstractItemModel ------------------------------------------------------------------
    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """Counts the rows."""
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Every row can be reached and chosen, but for the line of chance; documents can be dragged out."""
        if not index.isValid() or self._rows[index.row()].kind is Kind.CHANCE:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags if self._rows[index.row()].document < 0 else flags | Qt.ItemFlag.ItemIsDragEnabled

    def mimeTypes(self) -> list[str]:
        """What a drag carries: the files, and their passages as text."""
        return ["text/uri-list", "text/plain"]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Gives the files of rows, each once, and the passages of the rows as text."""
        numbers = sorted({index.row() for index in indexes if self._rows[index.row()].document >= 0})
        data = QMimeData()
        data.setUrls([address_of(path)
                      for path in dict.fromkeys(self.document_at(number).path for number in numbers)])
        texts = [hit.text.strip() for hit in map(self.hit_at, numbers) if hit is not None]
        data.setText("\n\n".join(texts).encode("utf-8", "replace").decode("utf-8"))
        return data

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Gives text for screen readers, the full path as tooltip, and the records by own roles."""
        number = index.row()
        if not 0 <= number < len(self._rows):
            return None
        row = self._rows[number]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._spoken(number)
        if role == self.KindRole:
            return row.kind
        if row.document < 0:
            return None
        document = self._documents[row.document]
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return _places(document)
        if role == Qt.ItemDataRole.ToolTipRole:
            lines = [short_path(path) for path in (document.paths or (document.path,))]
            if row.kind is Kind.PASSAGE and self._hit(row).location:
                lines.insert(0, one_line(self._hit(row).location))
            if document.member:
                lines.insert(0, title_of(document))
            if document.state in STATE_TIPS:
                lines.append(STATE_TIPS[document.state])
            return "<br>".join(f"<span>{html.escape(line)}</span>" for line in lines)
        if role == self.DocumentRole:
            return document
        return self.hit_at(number) if role == self.HitRole else None

    # private -----------------------------------------------------------------------------
    def _hit(self, row: Row) -> HitView:
        return self._documents[row.document].hits[row.hit]

    def _key(self, document: DocumentView) -> tuple[int, Path, str, tuple[int, ...]]:
        shown = document.hits if document.content_id in self._open else ()
        return document.content_id, document.path, document.member, tuple(hit.passage_id for hit in shown)

    def _children(self, number: int) -> list[Row]:
        document = self._documents[number]
        rows = [Row(Kind.PASSAGE, number, hit) for hit in range(len(document.hits))]
        return [*rows, Row(Kind.REST, number)] if document.more > 0 else rows

    def _build(self) -> None:
        rows: list[Row] = []
        chance = self._chance_place(self._documents, self._chance())
        for number, document in enumerate(self._documents):
            if number == chance:
                rows.append(Row(Kind.CHANCE, -1))
            rows.append(Row(Kind.DOCUMENT, number))
            if document.content_id in self._open:
                rows += self._children(number)
        if self._limit and len(self._documents) >= self._limit:
            rows.append(Row(Kind.FOOTER, -1))
        self._rows = rows
        self._bars = self._falling()

    def _chance(self) -> float | None:
        return self._view.chance if self._view is not None else None

    def _chance_place(self, documents: Sequence[DocumentView], chance: float | None) -> int:
        """Gives the first document from which on no cosine exceeds chance; -1 for none, and where nothing is said.

        The order may be another than that of the cosine, so what counts is that it holds for all that follow.
        """
        if chance is None or self._order is not Order.BEST:
            return -1
        place = len(documents)
        while place and all(hit.cosine is None or hit.cosine < chance for hit in documents[place - 1].hits):
            place -= 1
        tail = documents[place:]
        return place if any(hit.cosine is not None for document in tail for hit in document.hits) else -1

    def _falling(self) -> list[float]:
        bars, least = [], 1.0
        for document in self._documents:
            least = min(least, max(0.0, document.score))
            bars.append(least)
        return bars

    def _sorted(self, documents: tuple[DocumentView, ...]) -> list[DocumentView]:
        found = [document for document in documents if document.hits]
        if self._order is Order.NEWEST:
            found.sort(key=lambda document: -document.date)
        elif self._order is Order.NAME:
            found.sort(key=lambda document: title_of(document).casefold())
        return found

    def _spoken(self, number: int) -> str:
        row = self._rows[number]
        if row.kind is Kind.FOOTER:
            return "Show more documents"
        if row.kind is Kind.CHANCE:
            return self.chance_words(number)
        document = self._documents[row.document]
        if row.kind is Kind.REST:
            return f"Show {counted(document.more, 'more passage')} of {title_of(document)}"
        hit = self._hit(row)
        text = self.snippet_at(number).text
        if row.kind is Kind.PASSAGE:
            where = f"{one_line(hit.location)}: " if hit.location else ""
            spoken = f"Passage {row.hit + 1} of {len(document.hits)}, {where}{text} Score {hit.score:.2f}."
            return " ".join([spoken, *(f"{words}." for words in self._said_of(hit))])
        parts = [title_of(document), f"score {document.score:.2f}"]
        if document.state in STATE_WORDS:
            parts.append(STATE_WORDS[document.state])
        if document.date > 0:
            parts.append(date_text(document.date))
        if not self.is_open(number):
            parts += self._said_of(hit)
        hidden = self.more_at(number)
        if self.is_open(number):
            parts.append(f"open, {counted(hidden + 1, 'passage')} below")
        elif hidden:
            parts.append(f"{counted(hidden, 'more passage')}, press right arrow to show")
        return ", ".join(parts) + f". {text}"

    @staticmethod
    def _said_of(hit: HitView) -> list[str]:
        words = [f"judged {hit.judged}"] if hit.judged else []
        return [*words, f"{hit.folded:,} further nearly the same"] if hit.folded else words


CHANCE_REST = "From here no closer in meaning than chance"
CHANCE_ALL = "Nothing found is closer in meaning than chance"

STATE_WORDS = {
    "changed": "changed since it was read",
    "gone": "file is gone",
    "offline": "drive not connected",
}
STATE_TIPS = {
    "changed": "The file changed since it was read; it is queued to be read again.",
    "gone": "The file is gone.",
    "offline": "The drive is not connected; what is shown comes from the stored text.",
}


def _places(document: DocumentView) -> str:
    return "\n".join(short_path(path) for path in (document.paths or (document.path,)))


def score_words(kind: ScoreKind) -> str:
    """Gives what a score is made of, for tooltips and details."""
    return {
        ScoreKind.COSINE: "Closeness in meaning",
        ScoreKind.BM25: "Weight of the words found",
        ScoreKind.FUSED: "Meaning and words together",
        ScoreKind.RERANK: "Judged by reading query and passage together",
    }[kind]
