from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QPushButton, QWidget

from sbert_desktop.ui.saving import ask_target

pytestmark = pytest.mark.gui
FORMS = (("Table", ".csv"), ("Web page", ".html"))


def test_a_name_without_suffix_gets_that_of_the_form_and_replaces_nothing_unasked(
    qtbot, tmp_path: Path, monkeypatch
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    typed, form, asked = str(tmp_path / "<b>plain"), "Web page (*.html)", []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (asked.append(args[3]), (typed, form))[1])

    def answer(button: str) -> None:
        def press() -> None:
            box = QApplication.activeModalWidget()
            assert isinstance(box, QMessageBox)
            assert box.textFormat() == Qt.TextFormat.PlainText
            texts.append(box.text())
            assert box.defaultButton().text() == "Cancel"
            next(b for b in box.findChildren(QPushButton) if b.text() == button).click()

        QTimer.singleShot(50, parent, press)

    texts: list[str] = []
    wanted = tmp_path / "<b>plain.html"
    assert ask_target(parent, "Export", "results.csv", FORMS) == wanted
    assert asked == ["Table (*.csv);;Web page (*.html)"]
    wanted.write_text("mine")
    answer("Cancel")
    assert ask_target(parent, "Export", "results.csv", FORMS) is None
    answer("Replace")
    assert ask_target(parent, "Export", "results.csv", FORMS) == wanted
    assert texts == ["<b>plain.html is there already. Replace it?"] * 2
    typed = str(wanted)  # typed whole: the dialog itself has asked
    assert ask_target(parent, "Export", "results.csv", FORMS) == wanted
    typed = str(tmp_path / "notes.2023")
    form = ""
    assert ask_target(parent, "Export", "results.csv", FORMS) == tmp_path / "notes.2023.csv"
    typed = ""
    assert ask_target(parent, "Export", "results.csv", FORMS) is None
