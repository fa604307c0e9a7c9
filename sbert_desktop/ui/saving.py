"""Asks where to write a file, in any of several forms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from sbert_desktop.domain import display_path


def ask_target(parent: QWidget, title: str, start: str, forms: Sequence[tuple[str, str]]) -> Path | None:
    """Asks for a file; its suffix says the form, and one that was not typed is that of the form chosen.

    Args:
        parent: The widget that asks.
        title: What is written, as a title.
        start: The path or name suggested.
        forms: What a form is called, and its suffix with the dot: ``("Table", ".csv")``.

    Returns:
        The file, or None when the person changed their mind.
    """
    words = {f"{name} (*{suffix})": suffix for name, suffix in forms}
    found, form = QFileDialog.getSaveFileName(parent, title, start, ";;".join(words))
    if not found:
        return None
    target = Path(found)
    if target.suffix.lower() in {suffix for _, suffix in forms}:
        return target
    target = target.with_name(target.name + words.get(form, forms[0][1]))
    # the dialog asked about the name as it was typed, not about this one
    if target.exists() and not _may_replace(parent, title, target):
        return None
    return target


def _may_replace(parent: QWidget, title: str, target: Path) -> bool:
    box = QMessageBox(QMessageBox.Icon.Question, title, "", parent=parent)
    box.setTextFormat(Qt.TextFormat.PlainText)  # a name may look like markup
    box.setText(f"{display_path(target.name)} is there already. Replace it?")
    replace = box.addButton("Replace", QMessageBox.ButtonRole.DestructiveRole)
    cancel = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(cancel)
    box.setEscapeButton(cancel)
    box.exec()
    chosen = box.clickedButton()
    box.deleteLater()
    return chosen is replace
