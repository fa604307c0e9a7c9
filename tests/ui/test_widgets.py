from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    CheckBox,
    Chip,
    ElidedLabel,
    EmptyState,
    FlowLayout,
    IconButton,
    Label,
    NumberBox,
    ProgressBar,
    ScoreBar,
    SearchBox,
    Segmented,
    SkeletonList,
    Tag,
    Toast,
    plain_tip,
)

HOSTILE = "<img src='file:///etc/passwd'>&amp;<b>x</b>"


def test_buttons_have_the_heights_of_the_design_and_grow_with_the_text(qtbot) -> None:
    for size, height in (("normal", 32), ("large", 36), ("small", 24)):
        button = Button("Add folder", size=size)
        qtbot.addWidget(button)
        assert button.sizeHint().height() == height
    theme.apply(text_scale=200)
    assert button.sizeHint().height() > 24


def test_a_button_shows_and_says_an_ampersand(qtbot) -> None:
    button = Button("Tom & Jerry")
    qtbot.addWidget(button)
    assert button.label() == "Tom & Jerry"
    assert button.accessibleName() == "Tom & Jerry"
    assert not button.shortcut().toString()


@pytest.mark.parametrize("kind", ["normal", "primary", "link", "flat", "warn"])
def test_disabled_and_focused_buttons_look_different(qtbot, kind: str) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    button = Button("Pause", kind=kind, icon="pause", parent=host)
    button.resize(button.sizeHint())
    host.show()
    host.activateWindow()
    plain = button.grab().toImage()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(button.hasFocus)
    assert button.grab().toImage() != plain
    button.setEnabled(False)
    assert button.grab().toImage() != plain
    host.close()


def test_no_label_ever_parses_its_text(qtbot) -> None:
    state = EmptyState(HOSTILE, HOSTILE)
    qtbot.addWidget(state)
    for label in (Label(HOSTILE), state.title, state.sentence, ElidedLabel(HOSTILE)):
        qtbot.addWidget(label)
        assert label.textFormat() == Qt.TextFormat.PlainText
    assert "<img" not in plain_tip(HOSTILE)
    assert "<img" not in label.toolTip()


def test_elided_label_keeps_the_whole_text_for_tooltip_and_screen_reader(qtbot) -> None:
    label = ElidedLabel("/a/very/long/path/to/a/document.pdf", mode=Qt.TextElideMode.ElideMiddle)
    qtbot.addWidget(label)
    label.resize(80, 20)
    label.show()
    assert "…" in label.text()
    label.close()
    assert label.full_text() == label.accessibleName() == "/a/very/long/path/to/a/document.pdf"
    assert "document.pdf" in label.toolTip()


def test_what_stands_behind_a_path_is_not_shortened_with_it(qtbot) -> None:
    label = ElidedLabel("", mode=Qt.TextElideMode.ElideMiddle)
    qtbot.addWidget(label)
    label.set_full_text("/a/very/long/path/to/a/folder/of/documents", " · file is gone")
    label.resize(200, 20)
    label.show()
    assert label.text().endswith(" · file is gone")
    assert "…" in label.text()
    assert label.full_text() == "/a/very/long/path/to/a/folder/of/documents · file is gone"
    label.resize(40, 20)
    assert label.text().endswith("…") or "…" in label.text()


def test_chip_is_cleared_by_its_cross_and_by_delete(qtbot) -> None:
    chip = Chip("Type", object_name="chip")
    qtbot.addWidget(chip)
    unset = chip.sizeHint().width()
    chip.set_value("PDF, mail")
    assert chip.sizeHint().width() > unset
    assert chip.accessibleName() == "Type: PDF, mail"
    chip.resize(chip.sizeHint())
    with qtbot.waitSignal(chip.cleared):
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton, pos=chip._clear_box().center())
    with qtbot.waitSignal(chip.cleared):
        qtbot.keyClick(chip, Qt.Key.Key_Delete)
    with qtbot.assertNotEmitted(chip.cleared):
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton, pos=QPoint(4, 10))


def test_toast_runs_undo_or_tells_that_it_went(qtbot, monkeypatch) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(800, 600)
    QLineEdit(host).setFocus()  # as in the window, something else has the focus
    host.show()
    toast = Toast(host)
    monkeypatch.setattr(toast, "underMouse", lambda: False)
    done: list[str] = []
    toast.show_message("Removed", action="Undo", run=lambda: done.append("undo"), expired=lambda: done.append("gone"))
    assert toast.isVisible()
    assert host.rect().contains(toast.geometry())
    toast.button.click()
    assert done == ["undo"]
    assert not toast.isVisible()
    toast.show_message(
        "Removed", action="Undo", run=lambda: done.append("undo"), expired=lambda: done.append("gone"), seconds=0.01
    )
    qtbot.waitUntil(lambda: not toast.isVisible())
    assert done == ["undo", "gone"]
    toast.show_message("First", action="Undo", run=lambda: done.append("x"), expired=lambda: done.append("first gone"))
    toast.show_message("Second")
    assert done[-1] == "first gone"
    toast.dismiss()
    host.close()


def test_flow_layout_wraps_and_leaves_hidden_ones_out(qtbot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    flow = FlowLayout(host, gap=8)
    tags = [Tag(f"number {n}") for n in range(6)]
    for tag in tags:
        flow.addWidget(tag)
    one = flow.heightForWidth(2000)
    two = flow.heightForWidth(220)
    assert two > 2 * one
    for tag in tags[3:]:
        tag.hide()
    assert flow.heightForWidth(220) < two
    cards = QWidget()
    qtbot.addWidget(cards)
    equal = FlowLayout(cards, gap=16, least=280)
    for _ in range(3):
        equal.addWidget(Tag("card"))
    assert equal.heightForWidth(1076) < equal.heightForWidth(600)


def test_search_box_submits_clears_and_leaves_dropped_files_alone(qtbot) -> None:
    box = SearchBox("What?", object_name="query", accessible="Search")
    qtbot.addWidget(box)
    box.show()
    box.set_text("deposit")
    with qtbot.waitSignal(box.submitted) as got:
        qtbot.keyClick(box.edit, Qt.Key.Key_Return)
    assert got.args == ["deposit"]
    box.clear_button.click()
    assert box.text() == ""
    assert not box.clear_button.isVisible()
    box.close()


def test_segmented_is_exclusive_and_tells(qtbot) -> None:
    box = Segmented([("a", "One"), ("b", "Two")], object_name="seg", accessible="Which")
    qtbot.addWidget(box)
    box.set_value("a")
    with qtbot.waitSignal(box.changed) as got:
        box._buttons["b"].click()
    assert got.args == ["b"]
    assert box.value() == "b"
    assert not box._buttons["a"].isChecked()


def test_number_box_shows_its_number(qtbot) -> None:
    box = NumberBox(object_name="n", accessible="Text size", unit="%")
    qtbot.addWidget(box)
    box.setRange(80, 200)
    box.setValue(120)
    box.show()
    assert box.lineEdit().width() > 100
    assert box.text() == "120 %"
    box.close()


def test_everything_to_look_at_paints_in_both_schemes(qtbot) -> None:
    bar = ProgressBar()
    bar.set_fraction(0.4)
    unknown = ProgressBar()
    unknown.set_fraction(None)
    for scheme in ("light", "dark"):
        theme.apply(scheme=scheme)
        for widget in (
            Tag("Good", "good", icon="check"),
            ScoreBar(0.7),
            bar,
            unknown,
            CheckBox("On"),
            SkeletonList(),
            IconButton("more", "More"),
            EmptyState("Nothing", "here", action="Go", drawing="problem"),
        ):
            qtbot.addWidget(widget)
            widget.resize(widget.sizeHint().expandedTo(widget.minimumSizeHint()))
            picture: QPixmap = widget.grab()
            assert not picture.isNull()
    assert isinstance(Label("x"), QLabel)


def test_enter_presses_the_button_that_has_the_focus(qtbot) -> None:
    for button in (Button("Go", object_name="go"), IconButton("close", "Close", object_name="close")):
        qtbot.addWidget(button)
        pressed = []
        button.clicked.connect(lambda _=False, pressed=pressed: pressed.append(1))
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            qtbot.keyClick(button, key)
        assert len(pressed) == 3
        button.setEnabled(False)
        qtbot.keyClick(button, Qt.Key.Key_Return)
        assert len(pressed) == 3
