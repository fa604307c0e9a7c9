"""The sheet with the rules of one folder: what is read, what is left out, each explained in a sentence."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop.app.views import FolderView
from sbert_desktop.domain import FolderRules, short_path
from sbert_desktop.ui.library.causes import title_of_folder
from sbert_desktop.ui.naming import in_title, quick_path
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, ComboBox, ElidedLabel, Label, announce, name

NOTE = ("Patterns are written as in a .gitignore file; a file called .sbertignore in any folder adds its own. What you "
        "leave out goes from the results when you save, and comes back when you allow it again. No file is changed.")
IDLE = {"include": "Empty: every kind of file that can be read.", "exclude": "Empty: nothing more is left out."}


def edit_rules(window: QWidget, desk: Desk, folder: FolderView) -> RulesSheet:
    """Opens the sheet for a folder."""
    sheet = window.findChild(RulesSheet, "rules_sheet")
    if sheet is None:
        sheet = RulesSheet(window, desk)
    sheet.edit(folder)
    return sheet


def patterns(text: str) -> tuple[str, ...]:
    """Gives the patterns of a text, one a line, blanks around them and empty lines left out."""
    return tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def explain(pattern: str, verb: str) -> str:
    """Says what one pattern does; ``verb`` is ``Reads`` or ``Leaves out``."""
    text = quick_path(pattern.strip())
    if not text:
        return ""
    if text.startswith("#"):
        return "A remark: it does nothing."
    if text.startswith("!"):
        return f"Takes back an earlier line: {_what(text[1:])}."
    return f"{verb} {_what(text)}."


def _what(text: str) -> str:
    folder = text.endswith("/")
    bare = text.strip("/")
    if not bare:
        return "nothing"
    kind = "every folder" if folder else "every file or folder"
    all_below = " and all that lies in it" if folder else ""
    if "/" in bare or text.startswith("/"):
        if bare.startswith("**/"):
            return f"{kind} called “{bare[3:]}”{all_below}, however deep"
        if bare.endswith("/**"):
            return f"all that lies in “{bare[:-3]}”"
        return f"“{bare}” counted from this folder{all_below}"
    if bare.startswith("*.") and not set(bare[2:]) & set("*?["):
        return f"every file whose name ends in “{bare[1:]}”"
    if bare.endswith("*") and not set(bare[:-1]) & set("*?["):
        return f"{kind} whose name begins with “{bare[:-1]}”{all_below}"
    if set(bare) & set("*?["):
        return f"{kind} whose name fits “{bare}” (* is any letters, ? is one){all_below}"
    return f"{kind} called “{bare}”{all_below}, however deep"


class _Lines(QPlainTextEdit):
    """Patterns, one a line; Tab goes on to the next control."""

    def __init__(self, object_name: str, accessible: str, example: str) -> None:
        super().__init__()
        name(self, object_name, accessible, "One pattern a line")
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setPlaceholderText(example)
        self.document().setDocumentMargin(6)
        theme.set_role(self, "body")
        self._fit()
        theme.themeChanged.connect(self._fit)

    def line(self) -> str:
        """Gives the line that the cursor stands in, else the first one."""
        return self.textCursor().block().text() or next(iter(patterns(self.toPlainText())), "")

    def _fit(self) -> None:
        self.setFixedHeight(theme.line("body") * 4 + 24)


class RulesSheet(Sheet):
    """Read only, leave out, hidden files; Save checks the folder at once."""

    def __init__(self, window: QWidget, desk: Desk) -> None:
        super().__init__(window, width=560)
        name(self, "rules_sheet", "Rules of a folder")
        self._desk = desk
        self._folder: FolderView | None = None
        self.title = Label("Rules", role="page_title", wrap=True, object_name="rules_title")
        self.place_label = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, tone="muted", object_name="rules_folder")
        self.column.addWidget(self.title)
        self.column.addWidget(self.place_label)
        area = QScrollArea()
        name(area, "rules_area", "Rules")
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.viewport().setAutoFillBackground(False)
        content = QWidget()
        content.setObjectName("rules_content")
        content.setStyleSheet("#rules_content { background: transparent; }")
        inner = QVBoxLayout(content)
        inner.setContentsMargins(0, 4, 0, 0)
        inner.setSpacing(4)
        self._area, self._content = area, content
        self.include = _Lines("rules_include", "Read only these", "*.pdf")
        self.exclude = _Lines("rules_exclude", "Leave these out", "drafts/")
        self.include_words = Label("", role="meta", tone="muted", wrap=True, object_name="rules_include_words")
        self.exclude_words = Label("", role="meta", tone="muted", wrap=True, object_name="rules_exclude_words")
        for head, edit, said in (("Read only these", self.include, self.include_words),
                                 ("Leave these out", self.exclude, self.exclude_words)):
            inner.addWidget(Label(head, role="medium"))
            inner.addWidget(edit)
            inner.addWidget(said)
            inner.addSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(Label("Hidden files", role="medium"))
        row.addStretch(1)
        self.hidden = ComboBox(object_name="rules_hidden", accessible="Hidden files")
        row.addWidget(self.hidden)
        inner.addLayout(row)
        inner.addWidget(Label("Files and folders whose name begins with a dot.", role="meta", tone="muted", wrap=True))
        inner.addSpacing(8)
        self.note = Label(NOTE, role="meta", tone="muted", wrap=True, object_name="rules_note")
        inner.addWidget(self.note)
        area.setWidget(content)
        self.column.addWidget(area, 1)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.clear = Button("Clear all rules", object_name="rules_clear", tip="Read every kind of file again")
        self.cancel = Button("Cancel", object_name="rules_cancel")
        self.save = Button("Save and check", kind="primary", object_name="rules_save")
        foot.addWidget(self.clear)
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.save)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        for edit in (self.include, self.exclude):
            edit.textChanged.connect(self._fit)
            edit.cursorPositionChanged.connect(self._fit)
        self.hidden.activated.connect(lambda _: self._fit())
        self.clear.clicked.connect(self._on_clear)
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.save.clicked.connect(self._on_save)

    def edit(self, folder: FolderView) -> None:
        """Shows the rules of a folder."""
        self._folder = folder
        self.title.setText(f"What is read in {in_title(title_of_folder(folder.path))}")
        self.place_label.set_full_text(short_path(folder.path))
        setting = "read" if self._desk.settings.flag("indexing.hidden") else "leave out"
        self.hidden.clear()
        for text, value in ((f"As in Settings ({setting})", None), ("Read", True), ("Leave out", False)):
            self.hidden.addItem(text, value)
        self._show(folder.rules)
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.include

    def place(self) -> None:
        # as high as its content, as far as the window has room: the rest scrolls
        host = self.parentWidget()
        assert host is not None
        inner = min(self._width, host.width() - 48) - 48
        layout = self._content.layout()
        need = layout.heightForWidth(inner) if layout is not None else 320
        self._area.setMinimumHeight(max(120, min(need + 4, host.height() - 48 - 190)))
        super().place()

    def rules(self) -> FolderRules:
        """Gives the rules as they stand in the sheet."""
        value = self.hidden.currentData()
        return FolderRules(patterns(self.include.toPlainText()), patterns(self.exclude.toPlainText()),
                           value if isinstance(value, bool) else None)

    def _show(self, rules: FolderRules) -> None:
        self.include.setPlainText("\n".join(rules.include))
        self.exclude.setPlainText("\n".join(rules.exclude))
        self.hidden.setCurrentIndex({None: 0, True: 1, False: 2}[rules.hidden])
        self.hidden.updateGeometry()
        self._fit()

    def _fit(self) -> None:
        for edit, said, verb, idle in ((self.include, self.include_words, "Reads", IDLE["include"]),
                                       (self.exclude, self.exclude_words, "Leaves out", IDLE["exclude"])):
            said.setText(explain(edit.line(), verb) or idle)
            edit.setAccessibleDescription(f"One pattern a line. {said.text()}")
        rules = self.rules()
        self.clear.setVisible(rules != FolderRules())
        self.save.setEnabled(self._folder is not None and rules != self._folder.rules)

    def _on_clear(self) -> None:
        self._show(FolderRules())
        self.include.setFocus(Qt.FocusReason.OtherFocusReason)
        announce(self, "All rules are cleared. Save to apply.")

    def _on_save(self) -> None:
        folder = self._folder
        if folder is None:
            return
        before, rules = folder.rules, self.rules()
        self.close_sheet(True)
        commands, title = self._desk.commands, title_of_folder(folder.path)
        self._desk.start(commands.set_rules(folder.path, rules))
        self._desk.rulesChanged.emit(folder.path)
        self._desk.toast(f"The rules of {title} are in force", action="Undo",
                         run=lambda: self._desk.start(commands.set_rules(folder.path, before)))
