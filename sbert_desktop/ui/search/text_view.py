"""The text of a document around a passage, as plain text that can be read and copied."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from sbert_desktop.app.views import PreviewText, Span
from sbert_desktop.ui.search.text import Utf16Map, drawable, unwrap
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import paint_focus

LINE_HEIGHT = 140.0  # per cent
MATCHES = 1000  # of a search inside the text, that many are counted and marked
WINDOW = 10_000  # code points shown on each side of the passage; a document may hold millions


@dataclass(frozen=True, slots=True)
class TextWindow:
    """A stretch of a document with spans relative to it; ``before``/``after``: text was left out."""

    text: str
    passage: Span
    sentence: Span | None
    words: tuple[Span, ...]
    before: bool
    after: bool


def cut_window(preview: PreviewText, around: int = WINDOW) -> TextWindow:
    """Cuts the stretch around the passage out of a preview, at line ends where there are any.

    Spans of the preview are relative to its text; ``offset`` is where that begins in the document.
    """
    text, size = preview.text, len(preview.text)

    def inside(place: int) -> int:
        return max(0, min(size, place))

    first, last = inside(preview.passage[0]), inside(preview.passage[1])
    start, end = max(0, first - around), min(size, last + around)
    if start:
        line = text.find("\n", start, min(start + 2000, first))
        start = line + 1 if line >= 0 else start
    if end < size:
        line = text.rfind("\n", max(end - 2000, last), end)
        end = line if line >= 0 else end

    def moved(span: Span) -> Span:
        low = max(start, min(end, inside(span[0]))) - start
        return low, max(low, max(start, min(end, inside(span[1]))) - start)

    words = tuple(span for span in map(moved, preview.words) if span[1] > span[0])
    sentence = moved(preview.sentence) if preview.sentence is not None else None
    return TextWindow(unwrap(drawable(text[start:end]), preview.format), moved(preview.passage), sentence, words,
                      start > 0 or preview.offset > 0, end < size or preview.truncated)


class TextView(QTextEdit):
    """Read-only plain text: the passage has a bar and a fill, its sentence ``mark``, words are bold.

    A QTextEdit for its line height, but only ever given plain text: nothing is parsed or loaded.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._passage: Span = (0, 0)  # UTF-16
        self._sentence: Span | None = None
        self._zoom = 0
        self._found: list[QTextCursor] = []
        self._found_words = ""
        self.setObjectName("preview_text")
        self.setAccessibleName("Text of the document")
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse
                                     | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        self.document().setDocumentMargin(16)
        self.setStyleSheet("QTextEdit { border: none; border-radius: 0; }")
        theme.themeChanged.connect(self._on_theme)
        self._on_theme()

    def set_preview(self, preview: PreviewText) -> TextWindow:
        """Shows the text around the passage and scrolls to it; gives the window shown."""
        window = cut_window(preview)
        units = Utf16Map(window.text)
        self._passage = units.unit(window.passage[0]), units.unit(window.passage[1])
        self._sentence = None
        if window.sentence is not None:
            self._sentence = units.unit(window.sentence[0]), units.unit(window.sentence[1])
        # new text takes the format under the cursor: a bold word there would make all of it bold
        self.setCurrentCharFormat(QTextCharFormat())
        self.setPlainText(window.text)
        editing = QTextCursor(self.document())
        editing.beginEditBlock()  # one layout for all that follows, not one for each word
        self._space_lines()
        bold = QTextCharFormat()
        bold.setFontWeight(QFont.Weight.DemiBold)
        for span in window.words:
            self._cursor((units.unit(span[0]), units.unit(span[1]))).mergeCharFormat(bold)
        editing.endEditBlock()
        words, self._found_words = self._found_words, ""
        self._found = []
        self._mark()
        self._scroll()
        if words:
            self._search(words)
        return window

    def _space_lines(self) -> None:
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        spaced = QTextBlockFormat()
        spaced.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        cursor.mergeBlockFormat(spaced)

    def _cursor(self, span: Span) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(span[0])
        cursor.setPosition(span[1], QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _mark(self) -> None:
        found = []
        if self._sentence is not None:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = self._cursor(self._sentence)
            selection.format.setBackground(self._theme.color("mark"))
            selection.format.setForeground(self._theme.color("text"))
            found.append(selection)
        for cursor in self._found[:MATCHES]:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = cursor
            selection.format.setBackground(self._theme.color("selected"))
            selection.format.setForeground(self._theme.color("text"))
            selection.format.setFontUnderline(True)
            found.append(selection)
        self.setExtraSelections(found)

    def find_words(self, words: str, step: int) -> tuple[int, int]:
        """Marks words wherever they stand and goes to a match: ``step`` +1 next, -1 previous, 0 the first from here.

        Returns:
            Which match is shown, from 1 on, and how many there are; (0, 0) for none.
        """
        if words != self._found_words:
            self._search(words)
            step = 0
        if not self._found:
            return 0, 0
        here = self.textCursor().selectionStart()
        starts = [cursor.selectionStart() for cursor in self._found]
        if step > 0:
            at = next((n for n, start in enumerate(starts) if start > here), 0)
        elif step < 0:
            at = next((n for n in range(len(starts) - 1, -1, -1) if starts[n] < here), len(starts) - 1)
        else:
            at = next((n for n, start in enumerate(starts) if start >= here), 0)
        self.setTextCursor(self._found[at])
        self.ensureCursorVisible()
        return at + 1, len(self._found)

    def _search(self, words: str) -> None:
        self._found_words, self._found = words, []
        document: QTextDocument = self.document()
        cursor = document.find(words) if words.strip() else QTextCursor()
        while not cursor.isNull() and len(self._found) < MATCHES:
            self._found.append(QTextCursor(cursor))
            cursor = document.find(words, cursor)
        self._mark()

    def marked_text(self) -> str:
        """Gives the text under the mark."""
        return self._cursor(self._sentence).selectedText() if self._sentence is not None else ""

    def passage_text(self) -> str:
        """Gives the text of the passage as Qt sees it (paragraph ends as U+2029)."""
        return self._cursor(self._passage).selectedText()

    def _scroll(self) -> None:
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._passage[0])
        self.setTextCursor(cursor)
        # the passage in the upper third, as on a page
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect(cursor).top() - self.viewport().height() // 4)

    def leave_below(self, height: int) -> None:
        """Leaves room for what floats over the lower edge, so that it covers no words."""
        self.setViewportMargins(0, 0, 0, height)

    def zoom_by(self, steps: int) -> None:
        """Makes the text larger or smaller."""
        self._zoom = max(-4, min(12, self._zoom + steps))
        self._on_theme()

    def set_zoom(self, zoom: float) -> None:
        """Goes back to the normal size (1.0)."""
        self._zoom = 0 if zoom == 1.0 else self._zoom
        self._on_theme()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Plus and minus zoom, 0 goes back to the normal size."""
        steps = {"+": 1, "-": -1}.get(event.text())
        if steps is not None:
            self.zoom_by(steps)
        elif event.text() == "0":
            self.set_zoom(1.0)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolls; Ctrl zooms."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if event.angleDelta().y():
                self.zoom_by(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
            return
        super().wheelEvent(event)

    def _on_theme(self) -> None:
        font = self._theme.font("body")
        if font.pixelSize() > 0:
            font.setPixelSize(max(8, font.pixelSize() + self._zoom))
        else:
            font.setPointSizeF(max(6.0, font.pointSizeF() + self._zoom))
        self.setFont(font)
        self._mark()

    def passage_rect(self) -> QRect:
        """Gives where the passage lies, in the coordinates of the viewport."""
        if self._passage[1] <= self._passage[0]:
            return QRect()
        first, last = QTextCursor(self.document()), QTextCursor(self.document())
        first.setPosition(self._passage[0])
        last.setPosition(self._passage[1])
        top, bottom = self.cursorRect(first).top(), self.cursorRect(last).bottom()
        return QRect(8, top - 2, self.viewport().width() - 16, bottom - top + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints bar and fill of the passage, then the text."""
        rect = self.passage_rect()
        if rect.isValid() and rect.intersects(self.viewport().rect()):
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.faded("selected", 0.6))
            painter.drawRoundedRect(rect, 4, 4)
            painter.setBrush(self._theme.color("accent"))
            painter.drawRoundedRect(QRect(rect.x(), rect.y(), 3, rect.height()), 1.5, 1.5)
            painter.end()
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self.viewport())
            paint_focus(painter, self.viewport().rect())
