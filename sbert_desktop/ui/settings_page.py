"""Settings: every row is made from the schema; a change applies at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop.errors import UsageError
from sbert_desktop.settings import GROUPS, SCHEMA, Setting, Settings, Value
from sbert_desktop.ui.helpers_row import HelpersRow
from sbert_desktop.ui.page import Action, Desk, Page, PageHead
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    CheckBox,
    ComboBox,
    IconButton,
    Label,
    Line,
    NumberBox,
    SearchBox,
    announce,
    name,
    plain_tip,
)

LONG = 48  # characters of a default that the help shows; all of it comes back with the reset


def shown_value(setting: Setting, value: Value) -> str:
    """Gives a value in the words of the dialog."""
    if isinstance(value, bool):
        return "on" if value else "off"
    for key, text in setting.choices:
        if key == value:
            return text
    number = f"{value:,}" if isinstance(value, int) else str(value)
    if len(number) > LONG:
        number = f"{number[: LONG - 4].rstrip()} ..."
    return f"{number} {setting.unit}".strip()


class SettingRow(QWidget):
    """One setting: label and help on the left, its control and its reset on the right."""

    def __init__(self, setting: Setting, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setting = setting
        self._settings = settings
        slug = setting.key.replace(".", "_")
        self.setObjectName(f"setting_{slug}_row")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 10, 0, 10)
        row.setSpacing(16)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(setting.label, role="medium", object_name=f"setting_{slug}_label"))
        default = f"Default: {shown_value(setting, setting.default)}"
        texts.addWidget(Label(f"{setting.help} {default}.".strip(), role="meta", tone="muted", wrap=True,
                              object_name=f"setting_{slug}_help"))
        row.addLayout(texts, 1)
        self.control = self._make_control(slug)
        row.addWidget(self.control, 0, Qt.AlignmentFlag.AlignVCenter)
        self.reset = IconButton("undo", f"Reset {setting.label} to its default", object_name=f"setting_{slug}_reset")
        self.reset.clicked.connect(self._on_reset)
        policy = self.reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)
        row.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignVCenter)
        self.control.setAccessibleDescription(f"{setting.help} {default}".strip())
        self.show_value()

    def _make_control(self, slug: str) -> QWidget:
        setting = self.setting
        if isinstance(setting.default, bool):
            box = CheckBox(object_name=f"setting_{slug}", accessible=setting.label)
            box.clicked.connect(lambda checked: self._set(checked))
            return box
        if setting.choices:
            combo = ComboBox(object_name=f"setting_{slug}", accessible=setting.label)
            for key, text in setting.choices:
                combo.addItem(text, key)
            combo.activated.connect(lambda at: self._set(combo.itemData(at)))
            return combo
        if isinstance(setting.default, str):
            edit = QLineEdit()
            name(edit, f"setting_{slug}", setting.label)
            theme.set_role(edit, "body")
            edit.setFixedWidth(240 if len(setting.default) > 24 else 160)
            edit.setPlaceholderText("None")
            # no pattern at all is a choice, no language is none
            empty = setting.default if setting.key == "reading.ocr_languages" else ""
            edit.editingFinished.connect(lambda: self._set(edit.text().strip() or empty))
            return edit
        spin = NumberBox(object_name=f"setting_{slug}", accessible=setting.label, unit=setting.unit)
        spin.setRange(int(setting.minimum or 0), int(setting.maximum or 2_000_000_000))
        spin.setSingleStep(10 if setting.unit == "%" else 1)
        spin.valueChanged.connect(self._set)
        return spin

    def show_value(self) -> None:
        """Shows the value in force."""
        value = self._settings[self.setting.key]
        control = self.control
        control.blockSignals(True)
        if isinstance(control, CheckBox):
            control.setChecked(bool(value))
        elif isinstance(control, ComboBox):
            control.setCurrentIndex(max(0, control.findData(value)))
        elif isinstance(control, NumberBox):
            control.setValue(int(value))
        elif isinstance(control, QLineEdit):
            if control.text() != str(value):
                control.setText(str(value))
                control.setCursorPosition(0)  # a long value is read from its beginning
            control.setToolTip(plain_tip(str(value)))
        control.blockSignals(False)
        self.reset.setVisible(value != self.setting.default)

    def matches(self, text: str) -> bool:
        """True when every word stands in this setting's words."""
        setting = self.setting
        here = " ".join((setting.label, setting.help, setting.key, GROUPS.get(setting.group, ""),
                         *(choice for _, choice in setting.choices))).casefold()
        return all(word in here for word in text.casefold().split())

    def _set(self, value: object) -> None:
        try:
            self._settings.set(self.setting.key, value)
        except UsageError as error:
            announce(self, str(error))
        self.show_value()

    def _on_reset(self) -> None:
        self._settings.reset(self.setting.key)
        self.show_value()
        self.control.setFocus()
        announce(self, f"{self.setting.label} is {shown_value(self.setting, self.setting.default)} again")


class SettingsPage(Page):
    """All settings in groups, with a search box."""

    key: ClassVar[str] = "settings"
    title: ClassVar[str] = "Settings"
    icon: ClassVar[str] = "settings"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = PageHead("Settings", "settings_title")
        self.search = SearchBox("Find a setting", object_name="settings_search", accessible="Find a setting", height=32,
                                role="body")
        self.search.setMaximumWidth(280)
        head.row.addWidget(self.search, 1)
        column.addWidget(head)
        column.addWidget(Line())
        self.area = QScrollArea()
        name(self.area, "settings_area", "Settings")
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = QWidget()
        content.setObjectName("settings_content")
        outer = QHBoxLayout(content)
        outer.setContentsMargins(16, 8, 16, 24)
        outer.addStretch(1)
        middle = QWidget()
        middle.setMaximumWidth(720)
        outer.addWidget(middle, 100)
        outer.addStretch(1)
        self._column = QVBoxLayout(middle)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.rows: list[SettingRow] = []
        self._groups: list[tuple[Label, list[tuple[SettingRow, Line]]]] = []
        for group, title in GROUPS.items():
            self._add_group(group, title)
        self.nothing = Label("No setting is called that.", tone="muted", object_name="settings_nothing")
        self.nothing.setVisible(False)
        self._column.addWidget(self.nothing)
        self._column.addStretch(1)
        self.area.setWidget(content)
        column.addWidget(self.area, 1)
        self.search.textChanged.connect(self._on_search_changed)
        desk.settingChanged.connect(self._on_setting_changed)
        theme.themeChanged.connect(self._on_theme_changed)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._show_values)

    def _add_group(self, group: str, title: str) -> None:
        settings = [setting for setting in SCHEMA if setting.group == group]
        if not settings:
            return
        heading = Label(title, role="section", object_name=f"settings_group_{group}")
        heading.setContentsMargins(0, 16, 0, 4)
        self._column.addWidget(heading)
        rows = []
        for setting in settings:
            row = SettingRow(setting, self.desk.settings)
            line = Line()
            self._column.addWidget(row)
            self._column.addWidget(line)
            self.rows.append(row)
            rows.append((row, line))
        if group == "reading":
            self.helpers = HelpersRow(self.desk)
            self._column.addWidget(self.helpers)
        self._groups.append((heading, rows))

    def focus_first(self) -> None:
        self.search.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        return [Action(f"setting_{row.setting.key}", f"Settings: {row.setting.label.lower()}",
                       partial(self.show_setting, row), icon="settings") for row in self.rows]

    def show_key(self, key: str) -> None:
        """Scrolls to the setting of a key and puts the focus into it; nothing where there is none."""
        for row in self.rows:
            if row.setting.key == key:
                self.show_setting(row)

    def activate(self) -> None:
        self.helpers.look()

    def show_setting(self, row: SettingRow) -> None:
        """Scrolls to a setting and puts the focus into it."""
        self.desk.show_page(self.key)
        self.search.set_text("")
        self.area.ensureWidgetVisible(row)
        row.control.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_search_changed(self, text: str) -> None:
        found = 0
        for heading, rows in self._groups:
            any_here = False
            for row, line in rows:
                match = row.matches(text)
                row.setVisible(match)
                line.setVisible(match)
                any_here = any_here or match
                found += match
            if rows and rows[0][0].setting.group == "reading":
                match = self.helpers.matches(text)
                self.helpers.setVisible(match)
                any_here = any_here or match
                found += match
            heading.setVisible(any_here)
        self.nothing.setVisible(found == 0)
        announce(self.search, f"{found} settings")

    def _on_setting_changed(self, key: str) -> None:
        for row in self.rows:
            if row.setting.key == key:
                row.show_value()

    def _on_theme_changed(self) -> None:
        self._later.start()

    def _show_values(self) -> None:
        for row in self.rows:
            row.show_value()
