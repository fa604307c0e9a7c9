"""The chips under the query box: folder, type, date, language; together they are a ``Filters``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

from PySide6.QtCore import QDate, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QDateEdit, QDialog, QFileDialog, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from sbert_desktop.app.views import LibraryView
from sbert_desktop.domain import Filters, short_path
from sbert_desktop.ui.search.add_filter import AddFilter
from sbert_desktop.ui.search.model import date_text
from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.widgets import Button, CheckBox, Chip, FlowLayout, IconButton, Label, menu, no_mnemonic
from sbert_desktop.ui.words import counted

# What a person calls a format, and the suffixes that it covers; others are shown by their suffix.
TYPE_WORDS: dict[str, str] = {
    "pdf": "PDF", "md": "notes", "markdown": "notes", "eml": "mail", "mbox": "mail", "msg": "mail", "txt": "text",
    "text": "text", "html": "web pages", "htm": "web pages", "docx": "Word", "odt": "OpenDocument", "rtf": "RTF",
    "epub": "e-books", "xlsx": "Excel", "csv": "CSV", "pptx": "PowerPoint", "py": "Python", "json": "JSON",
    "log": "logs",
}
# Names of the languages that the program tells apart most often; a code is shown for the rest.
LANGUAGE_WORDS: dict[str, str] = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "nb": "Norwegian", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak",
    "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian",
    "vi": "Vietnamese", "zh": "Chinese",
}


def type_word(suffix: str) -> str:
    """Gives what a person calls a file type."""
    return TYPE_WORDS.get(suffix, one_line(suffix).upper())


def language_word(code: str) -> str:
    """Gives the name of a language by its two-letter code."""
    return LANGUAGE_WORDS.get(code, code)


def start_of(day: date) -> float:
    """Gives the first second of a day in the person's own time zone, since the epoch."""
    return datetime(day.year, day.month, day.day).timestamp()


def among_words(filters: Filters) -> str:
    """Gives what the documents are that alone are looked at; "" for all."""
    many = counted(len(filters.contents), "document")
    return (one_line(filters.contents_label) or many) if filters.contents else ""


def listed(words: Sequence[str], most: int = 3) -> str:
    """Gives ``PDF, mail, notes +1``."""
    shown = ", ".join(words[:most])
    return f"{shown} +{len(words) - most}" if len(words) > most else shown


class FilterBar(QWidget):
    """Chips that wrap; ``changed(Filters)`` whenever the person chose or cleared one."""

    changed = Signal(object)
    similarCleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("search_filters")
        self.setAccessibleName("Filters")
        self._filters = Filters()
        self._date_words = ""
        self._formats: tuple[str, ...] = ()
        self._languages: tuple[str, ...] = ()
        self._folders: tuple[Path, ...] = ()
        row = self._row = FlowLayout(self, gap=8)
        self._typed: set[str] = set()
        self.similar_chip = Chip("Similar to", object_name="filter_similar", parent=self)
        self.among_chip = Chip("Only", object_name="filter_among", parent=self)
        self.folder_chip = Chip("Folder", unset="all", object_name="filter_folder", parent=self)
        self.type_chip = Chip("Type", object_name="filter_type", parent=self)
        self.date_chip = Chip("Date", object_name="filter_date", parent=self)
        self.language_chip = Chip("Language", object_name="filter_language", parent=self)
        for chip in (self.similar_chip, self.among_chip, self.type_chip, self.language_chip):
            chip.hide()  # until there is something to choose
        for chip in self.chips():
            row.addWidget(chip)
        self.collections: Callable[[], Sequence[str]] = tuple  # names of the collections there are
        self.add_button = AddFilter(self)
        self.add_button.values = self._values_of
        row.addWidget(self.add_button)
        self.help_button = IconButton("info", "How to search: words, phrases and fields", object_name="search_language",
                                      size=28, icon_size=16)
        row.addWidget(self.help_button)
        self._folder_menu = menu(self, "filter_folder_menu", "Folder")
        self._type_menu = _StayingMenu(self)
        self._type_menu.setObjectName("filter_type_menu")
        self._date_menu = menu(self, "filter_date_menu", "Date")
        self._language_menu = _StayingMenu(self)
        self._language_menu.setObjectName("filter_language_menu")
        for chip, choice, fill in (
            (self.folder_chip, self._folder_menu, self._fill_folders),
            (self.type_chip, self._type_menu, self._fill_types),
            (self.date_chip, self._date_menu, self._fill_dates),
            (self.language_chip, self._language_menu, self._fill_languages),
        ):
            chip.setMenu(choice)
            choice.aboutToShow.connect(fill)
            fill()
        self.folder_chip.cleared.connect(lambda: self._change(folder=None))
        self.type_chip.cleared.connect(lambda: self._change(types=()))
        self.date_chip.cleared.connect(lambda: self._change_date(None, None, ""))
        self.language_chip.cleared.connect(lambda: self._change(languages=()))
        self.similar_chip.cleared.connect(self.similarCleared)
        self.similar_chip.clicked.connect(self.similarCleared)
        for signal in (self.among_chip.cleared, self.among_chip.clicked):
            signal.connect(self._leave_among)

    def chips(self) -> list[Chip]:
        """Gives the chips in their order."""
        return [self.similar_chip, self.among_chip, self.folder_chip, self.type_chip, self.date_chip,
                self.language_chip]

    def set_typed(self, fields: set[str], chips: Sequence[Chip]) -> None:
        """Shows chips of what is typed; a menu whose field is typed steps back, so that each says it once."""
        self._typed = fields
        for chip in chips:
            self._row.addWidget(chip)
            chip.show()
        for last in (self.add_button, self.help_button):  # behind what is typed: where the next one would stand
            self._row.removeWidget(last)
            self._row.addWidget(last)
        self._show()

    def menus(self) -> list[tuple[str, Chip]]:
        """Gives the filters that have a menu of their own and can be chosen now."""
        return [(word, chip) for word, chip in (("Type", self.type_chip), ("Folder", self.folder_chip),
                                                ("Date", self.date_chip), ("Language", self.language_chip))
                if not chip.isHidden()]

    def filters(self) -> Filters:
        """Gives what is chosen."""
        return self._filters

    def set_library(self, view: LibraryView) -> None:
        """Takes the choices from the library."""
        self._formats, self._languages = view.formats, view.languages
        self._folders = tuple(folder.path for folder in view.folders)
        self._show()

    def set_filters(self, filters: Filters) -> None:
        """Chooses filters (the same as the person would) and tells."""
        if filters.after != self._filters.after or filters.before != self._filters.before:
            self._date_words = _range_words(filters.after, filters.before)
        self._filters = filters
        self._show()
        self.changed.emit(filters)

    def set_among(self, contents: Sequence[int], label: str) -> None:
        """Narrows the search to these documents (content ids) and tells; other filters would hide some of them."""
        self.set_filters(Filters(contents=tuple(contents), contents_label=label))

    def clear(self) -> None:
        """Clears all filters."""
        self.set_filters(Filters())

    def set_similar(self, title: str) -> None:
        """Shows that the list holds documents similar to one; "" for none."""
        self.similar_chip.set_value(title)
        self.similar_chip.setVisible(bool(title))

    # ---- private --------------------------------------------------------------------------
    def _change(self, **values: object) -> None:
        kept = ("folder", "types", "after", "before", "languages", "contents", "contents_label")
        current = {name: getattr(self._filters, name) for name in kept}
        self._filters = Filters(**{**current, **values})
        self._show()
        self.changed.emit(self._filters)

    def _leave_among(self) -> None:
        self.folder_chip.setFocus(Qt.FocusReason.OtherFocusReason)  # the chip goes, and the focus would go with it
        self._change(contents=(), contents_label="")

    def _change_date(self, after: float | None, before: float | None, words: str) -> None:
        self._date_words = words
        self._change(after=after, before=before)

    def _show(self) -> None:
        chosen = self._filters
        folder = chosen.folder
        self.folder_chip.set_value(one_line(folder.name) or short_path(folder) if folder is not None else "",
                                   short_path(folder) if folder is not None else "")
        self.type_chip.set_value(listed(list(dict.fromkeys(type_word(kind) for kind in chosen.types))))
        self.date_chip.set_value(self._date_words if chosen.after is not None or chosen.before is not None else "")
        self.language_chip.set_value(listed([language_word(code) for code in chosen.languages]))
        self.among_chip.set_value(among_words(chosen))
        self.among_chip.setVisible(bool(chosen.contents))
        typed = self._typed
        self.folder_chip.setVisible("folder" not in typed or folder is not None)
        self.date_chip.setVisible(not typed & {"after", "before"} or bool(self.date_chip.value()))
        self.type_chip.setVisible(bool((self._formats and "type" not in typed) or chosen.types))
        self.language_chip.setVisible((len(self._languages) > 1 and "lang" not in typed) or bool(chosen.languages))
        layout = self.layout()
        if layout is not None:
            layout.invalidate()
        self.updateGeometry()

    def _values_of(self, field: str) -> list[tuple[str, str]]:
        """Gives what there is of a field: its name, and as it is typed."""
        if field == "in":
            return [(name, name) for name in self.collections()]
        word, there = {"type": (type_word, self._formats), "lang": (language_word, self._languages)}.get(
            field, (one_line, ()))
        return sorted(((f"{word(key)} ({key})" if word(key).casefold() != key.casefold() else word(key), key)
                       for key in there), key=lambda pair: pair[0].casefold())

    def _add(self, choice: QMenu, text: str, checked: bool) -> QAction:
        action = choice.addAction(no_mnemonic(text))
        action.setCheckable(True)
        action.setChecked(checked)
        return action

    def _fill_folders(self) -> None:
        choice = self._folder_menu
        choice.clear()
        every = self._add(choice, "All folders", self._filters.folder is None)
        every.triggered.connect(lambda: self._change(folder=None))
        for folder in self._folders:
            action = self._add(choice, short_path(folder), self._filters.folder == folder)
            action.triggered.connect(lambda _=False, folder=folder: self._change(folder=folder))
        chosen = self._filters.folder
        if chosen is not None and chosen not in self._folders:
            self._add(choice, short_path(chosen), True)
        choice.addSeparator()
        choice.addAction("Choose folder…").triggered.connect(self.choose_folder)

    def choose_folder(self) -> None:
        """Asks for a folder inside the library."""
        start = self._filters.folder or (self._folders[0] if self._folders else Path.home())
        found = QFileDialog.getExistingDirectory(self, "Search in folder", str(start))
        if found:
            self._change(folder=Path(found))

    def _fill_types(self) -> None:
        self._fill_checks(self._type_menu, self._formats, self._filters.types, type_word, "types", "Any type")

    def _fill_languages(self) -> None:
        self._fill_checks(self._language_menu, self._languages, self._filters.languages, language_word, "languages",
                          "Any language")

    def _fill_checks(self, choice: QMenu, offered: Sequence[str], chosen: Sequence[str], word: object, field: str,
                     none: str) -> None:
        choice.clear()
        assert callable(word)
        clear = self._add(choice, none, not chosen)
        clear.triggered.connect(lambda: self._clear_checks(choice, field))
        groups: dict[str, list[str]] = {}
        for key in (*offered, *(key for key in chosen if key not in offered)):
            groups.setdefault(word(key), []).append(key)
        for text in sorted(groups, key=str.casefold):
            keys = groups[text]
            action = self._add(choice, text, any(key in chosen for key in keys))
            action.setData(keys)
            action.toggled.connect(lambda on, keys=tuple(keys): self._toggle(choice, field, keys, on))

    def _toggle(self, choice: QMenu, field: str, keys: tuple[str, ...], on: bool) -> None:
        before = getattr(self._filters, field)
        kept = tuple(key for key in before if key not in keys)
        self._change(**{field: kept + keys if on else kept})
        choice.actions()[0].setChecked(not getattr(self._filters, field))

    def _clear_checks(self, choice: QMenu, field: str) -> None:
        for action in choice.actions()[1:]:
            action.blockSignals(True)
            action.setChecked(False)
            action.blockSignals(False)
        choice.actions()[0].setChecked(True)
        if getattr(self._filters, field):
            self._change(**{field: ()})

    def _fill_dates(self) -> None:
        choice = self._date_menu
        choice.clear()
        today = date.today()
        every = self._add(choice, "Any date", not self._date_words)
        every.triggered.connect(lambda: self._change_date(None, None, ""))
        for words, days in (("last week", 7), ("last month", 30), ("last year", 365)):
            since = start_of(today - timedelta(days=days))
            action = self._add(choice, words.capitalize(), self._date_words == words)
            action.triggered.connect(lambda _=False, since=since, words=words: self._change_date(since, None, words))
        choice.addSeparator()
        years = menu(choice, "filter_since_menu", "Since")
        years.setTitle("Since")
        for year in range(today.year, today.year - 6, -1):
            since = start_of(date(year, 1, 1))
            words = f"since {year}"
            action = self._add(years, str(year), self._date_words == words)
            action.triggered.connect(lambda _=False, since=since, words=words: self._change_date(since, None, words))
        choice.addMenu(years)
        choice.addAction("From … to …").triggered.connect(self.choose_dates)

    def choose_dates(self) -> None:
        """Asks for a first and a last day."""
        dialog = DateRangeDialog(self._filters.after, self._filters.before, self)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            after, before = dialog.range()
            self._change_date(after, before, _range_words(after, before))
        dialog.deleteLater()


class _StayingMenu(QMenu):
    """A menu of check marks that stays open, so that several can be chosen at once."""

    def mouseReleaseEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        action = self.actionAt(event.position().toPoint())
        if action is not None and action.isCheckable():
            action.trigger()
            return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = self.activeAction()
        if event.key() == Qt.Key.Key_Space and action is not None and action.isCheckable():
            action.trigger()
            return
        super().keyPressEvent(event)


class DateRangeDialog(QDialog):
    """Asks for the first and the last day; either may be left open."""

    def __init__(self, after: float | None, before: float | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("date_range_dialog")
        self.setWindowTitle("Documents dated")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(Label("Documents dated", role="section"))
        today = QDate.currentDate()
        first = _q_date(after) if after is not None else today.addYears(-1)
        last = _q_date(before - 1) if before is not None else today
        open_start, open_end = after is None and before is not None, before is None and after is not None
        self.first, self.first_box = self._line(column, "From", "date_first", first, not open_start)
        self.last, self.last_box = self._line(column, "To", "date_last", last, not open_end)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        cancel = Button("Cancel", object_name="date_cancel")
        self.accept_button = Button("Show these", kind="primary", object_name="date_accept")
        self.accept_button.setDefault(True)
        cancel.clicked.connect(self.reject)
        self.accept_button.clicked.connect(self.accept)
        row.addWidget(cancel)
        row.addWidget(self.accept_button)
        column.addLayout(row)

    def _line(self, column: QVBoxLayout, word: str, name: str, day: QDate, on: bool) -> tuple[QDateEdit, CheckBox]:
        row = QHBoxLayout()
        box = CheckBox(word, object_name=f"{name}_on")
        box.setChecked(on)
        edit = QDateEdit(day)
        edit.setObjectName(name)
        edit.setAccessibleName(word)
        edit.setCalendarPopup(True)
        edit.setDisplayFormat("d MMM yyyy")
        edit.setMinimumWidth(160)
        edit.setEnabled(on)
        box.toggled.connect(edit.setEnabled)
        row.addWidget(box)
        row.addStretch(1)
        row.addWidget(edit)
        column.addLayout(row)
        return edit, box

    def range(self) -> tuple[float | None, float | None]:
        """Gives seconds since the epoch: from the first day's start to before the day after the last."""
        first = _py_date(self.first.date()) if self.first_box.isChecked() else None
        last = _py_date(self.last.date()) if self.last_box.isChecked() else None
        if first is not None and last is not None and last < first:
            first, last = last, first
        return (start_of(first) if first is not None else None,
                start_of(last + timedelta(days=1)) if last is not None else None)


def _py_date(day: QDate) -> date:
    return date(day.year(), day.month(), day.day())


def _q_date(seconds: float) -> QDate:
    day = date.fromtimestamp(seconds)
    return QDate(day.year, day.month, day.day)


def _range_words(after: float | None, before: float | None) -> str:
    if after is not None and before is not None:
        return f"{date_text(after)} to {date_text(before - 1)}"
    if after is not None:
        return f"since {date_text(after)}"
    return f"until {date_text(before - 1)}" if before is not None else ""
