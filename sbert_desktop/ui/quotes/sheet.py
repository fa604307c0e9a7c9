"""Check my quotes: choose, drop or paste a draft; each of its quotations with what the library says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from sbert_desktop.app.views import QuoteView
from sbert_desktop.domain import Finished, Outcome, Progress
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.drop import local_paths
from sbert_desktop.ui.naming import file_words
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.quotes.list import QuoteList, place
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, EmptyState, Label, ProgressBar, announce, name

PHRASE_WORDS: Final = 12  # of a source that are searched for: enough to be the only such place
PASTED: Final = 2_000_000  # characters of a pasted draft


def open_quotes(window: QWidget, desk: Desk, draft: object = None) -> QuotesSheet:
    """Opens the sheet; with the path of a draft, checks it at once."""
    sheet = window.findChild(QuotesSheet, "quotes_sheet")
    if sheet is None:
        sheet = QuotesSheet(window, desk)
    sheet.open()
    if isinstance(draft, Path):
        sheet.check(draft)
    return sheet


def summary(quotes: tuple[QuoteView, ...]) -> str:
    """Gives ``12 quotations: 9 word for word, 2 changed, 1 not found``."""
    counted = Counter(quote.verdict for quote in quotes)
    parts = [f"{words.count(counted[key])} {text}" for key, text in
             (("exact", "word for word"), ("changed", "changed"), ("not found", "not found")) if counted[key]]
    return f"{words.counted(len(quotes), 'quotation')}: {', '.join(parts)}"


class QuotesSheet(Sheet):
    """Asks for a draft, works, shows the list. What was found stays until another draft is checked."""

    def __init__(self, window: QWidget, desk: Desk) -> None:
        super().__init__(window, width=760)
        name(self, "quotes_sheet", "Check my quotes")
        self.setAcceptDrops(True)
        self._desk = desk
        self._latest = Latest(desk.bridge)
        self.title = Label("Check my quotes", role="page_title", object_name="quotes_title")
        self.said = Label("", tone="muted", wrap=True, object_name="quotes_summary")
        self.column.addWidget(self.title)
        self.column.addWidget(self.said)
        self.stack = QStackedWidget()
        self.stack.setObjectName("quotes_stack")
        self.ask = self._build_ask()
        self.working = self._build_working()
        self.list = QuoteList()
        self.none = EmptyState("No quotations in it", "A quotation stands between quotation marks. Shorter ones than a "
                               "few words are not looked for.", drawing="nothing", object_name="quotes_none")
        self.failed = EmptyState("The draft could not be checked", "", drawing="problem", object_name="quotes_failed")
        for widget in (self.ask, self.working, self.list, self.none, self.failed):
            self.stack.addWidget(widget)
        self.column.addWidget(self.stack, 1)
        self.column.addLayout(self._build_foot())
        self.list.clicked.connect(lambda _: self.show_source())
        self.list.activated.connect(lambda _: self.show_source())
        self.list.selectionModel().currentChanged.connect(lambda *_: self._fit_buttons())
        theme.themeChanged.connect(self._fit)
        self._fit()
        self._show(self.ask)

    def _build_ask(self) -> QWidget:
        ask = QWidget()
        ask.setObjectName("quotes_ask")
        column = QVBoxLayout(ask)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(12)
        self.choose = Button("Choose a draft...", icon="file", object_name="quotes_choose")
        row.addWidget(self.choose)
        row.addWidget(Label("or drop it here, or paste its text:", tone="muted"), 1)
        column.addLayout(row)
        self.edit = QPlainTextEdit()
        name(self.edit, "quotes_text", "Text of the draft")
        self.edit.setPlaceholderText("Paste the text with your quotations")
        self.edit.setTabChangesFocus(True)
        self.edit.setAcceptDrops(False)  # a dropped file is a draft, not its address
        self.edit.document().setDocumentMargin(8)
        theme.set_role(self.edit, "body")
        column.addWidget(self.edit, 1)
        self.choose.clicked.connect(self._on_choose)
        self.edit.textChanged.connect(self._fit_buttons)
        return ask

    def _build_working(self) -> QWidget:
        working = QWidget()
        working.setObjectName("quotes_working")
        column = QVBoxLayout(working)
        self.bar = ProgressBar(object_name="quotes_bar", accessible="Checking")
        self.doing = Label("", tone="muted", object_name="quotes_doing")
        column.addStretch(1)
        column.addWidget(self.bar)
        column.addWidget(self.doing)
        column.addStretch(2)
        return working

    def _build_foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.setContentsMargins(0, 4, 0, 0)
        self.another = Button("Check another", object_name="quotes_another")
        self.copy = Button("Copy the list", icon="copy", object_name="quotes_copy",
                           tip="Copy each quotation with its verdict and its place")
        self.close_button = Button("Close", object_name="quotes_close")
        self.cancel = Button("Cancel", object_name="quotes_cancel")
        self.open_button = Button("Open", icon="open", object_name="quotes_open", tip="Open the source at its page")
        self.source = Button("Show the source", kind="primary", icon="search", object_name="quotes_source",
                             tip="Search for it and show it in the preview (Enter)")
        self.check_button = Button("Check", kind="primary", icon="quote", object_name="quotes_check",
                                   tip="Look for each quotation in your library (Ctrl+Enter)")
        foot.addWidget(self.another)
        foot.addWidget(self.copy)
        foot.addStretch(1)
        for button in (self.close_button, self.cancel, self.open_button, self.source, self.check_button):
            foot.addWidget(button)
        self.another.clicked.connect(self.start_again)
        self.copy.clicked.connect(self._copy)
        self.close_button.clicked.connect(lambda: self.close_sheet(False))
        self.cancel.clicked.connect(self._on_cancel)
        self.open_button.clicked.connect(self._open)
        self.source.clicked.connect(self.show_source)
        self.check_button.clicked.connect(self._on_check)
        return foot

    def first_focus(self) -> QWidget:
        shown = self.stack.currentWidget()
        return self.list if shown is self.list else self.edit if shown is self.ask else self.close_button

    def keyPressEvent(self, event: object) -> None:
        key, control = event.key(), event.modifiers() & Qt.KeyboardModifier.ControlModifier  # type: ignore[attr-defined]
        if control and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.check_button.isVisible():
            self._on_check()
            return
        super().keyPressEvent(event)  # type: ignore[arg-type]

    # ---- a draft comes

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_paths(event.mimeData()) or event.mimeData().hasText():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        event.acceptProposedAction()
        if paths:
            self.check(paths[0])
        elif event.mimeData().hasText():
            self.start_again()
            self.edit.setPlainText(event.mimeData().text()[:PASTED])

    def start_again(self) -> None:
        """Asks for a draft."""
        self.said.setText("")
        self._show(self.ask)
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_choose(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(self, "Choose a draft")
        if chosen:
            self.check(Path(chosen))

    def _on_check(self) -> None:
        if self.check_button.isEnabled():
            self.check(self.edit.toPlainText()[:PASTED])

    def check(self, draft: Path | str) -> None:
        """Looks for each quotation of a draft."""
        if self._latest.job is not None:
            self._desk.commands.cancel(self._latest.job)
        self._what = file_words(draft) if isinstance(draft, Path) else "Pasted text"
        self.said.setText(self._what)
        self.bar.set_fraction(None)
        self.doing.setText("Reading the draft...")
        self._show(self.working)
        self._latest.watch(self._desk.commands.quotes(draft), on_progress=self._on_progress,
                           on_finished=self._on_finished)

    def _on_progress(self, progress: Progress) -> None:
        self.bar.set_fraction(progress.done / progress.total if progress.total else None)
        if progress.total:
            self.doing.setText(f"Looking for quotation {words.count(min(progress.done + 1, progress.total))} of "
                               f"{words.count(progress.total)}")

    def _on_cancel(self) -> None:
        if self._latest.job is not None:
            self._desk.commands.cancel(self._latest.job)
        self._latest.drop()
        self.start_again()

    def _on_finished(self, finished: Finished) -> None:
        self._latest.job = None
        if finished.outcome is Outcome.FAILED and finished.failure is not None:
            self.failed.set_texts("The draft could not be checked", failure_text(finished.failure))
            self._show(self.failed)
        elif isinstance(finished.result, tuple):
            self._take(cast(tuple[QuoteView, ...], finished.result))
        else:
            self.start_again()

    def _take(self, quotes: tuple[QuoteView, ...]) -> None:
        self.list.quotes_model.set_quotes(quotes)
        if not quotes:
            self._show(self.none)
            announce(self, "No quotations in it")
            return
        text = f"{self._what} · {summary(quotes)}"
        self.said.setText(text)
        self.list.setCurrentIndex(self.list.quotes_model.index(0))
        self._show(self.list)
        announce(self, text)

    # ---- what is found

    def show_source(self) -> None:
        """Leaves for Search, where the source's own words are found and shown in the preview."""
        quote = self.list.current()
        if quote is None or quote.path is None:
            return
        some = " ".join((quote.source or quote.quoted).replace('"', " ").split()[:PHRASE_WORDS])
        self.close_sheet(True)
        self._desk.inspector.set_open(True)
        own = quote.path.name.replace('"', " ")
        self._desk.search_for(f'"{some}" name:"{own}"')
        self._desk.toast("The source of your quotation", action="Back to the quotes", run=self.open)

    def _open(self) -> None:
        quote = self.list.current()
        if quote is not None and quote.path is not None:
            self._desk.start(self._desk.commands.open_file(quote.path, None if quote.member else quote.page))

    def _copy(self) -> None:
        rows = [f"{quote.verdict}\t{' '.join(quote.quoted.split())}\t{place(quote)}\t{' '.join(quote.source.split())}"
                for quote in self.list.quotes_model.quotes]
        QApplication.clipboard().setText("\n".join(rows))
        self._desk.toast(f"Copied {words.counted(len(rows), 'quotation')}")

    # ---- showing

    def _show(self, widget: QWidget) -> None:
        had_focus = self.isAncestorOf(QApplication.focusWidget() or self._desk.inspector)
        self.stack.setCurrentWidget(widget)
        working, asking, listed = widget is self.working, widget is self.ask, widget is self.list
        self.cancel.setVisible(working)
        self.close_button.setVisible(not working)
        self.check_button.setVisible(asking)
        self.another.setVisible(not working and not asking)
        for button in (self.source, self.open_button, self.copy):
            button.setVisible(listed)
        self.said.setVisible(bool(self.said.text()))
        self._fit_buttons()
        if had_focus:
            (self.cancel if working else self.first_focus()).setFocus(Qt.FocusReason.OtherFocusReason)

    def _fit_buttons(self) -> None:
        quote = self.list.current()
        there = quote is not None and quote.path is not None
        self.source.setEnabled(there)
        self.open_button.setEnabled(there)
        self.check_button.setEnabled(bool(self.edit.toPlainText().strip()))

    def _fit(self) -> None:
        self.stack.setMinimumHeight(min(440, max(240, theme.line("body") * 22)))
