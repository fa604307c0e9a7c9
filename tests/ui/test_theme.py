from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QApplication, QLabel

from sbert_desktop.ui.theme import ROLES, TOKENS, theme


def luminance(color: QColor) -> float:
    def part(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    return 0.2126 * part(color.redF()) + 0.7152 * part(color.greenF()) + 0.0722 * part(color.blueF())


def contrast(one: QColor, other: QColor) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


GROUNDS = ("rail", "surface", "raised", "hover", "selected")
PAIRS = [(ink, ground, 4.5) for ink in ("text", "muted", "accent", "good", "warn", "danger") for ground in GROUNDS] + [
    ("on_accent", "accent", 4.5),
    ("text", "mark", 4.5),
    ("good", "good_soft", 4.5),
    ("warn", "warn_soft", 4.5),
    ("danger", "danger_soft", 4.5),
    ("text", "good_soft", 4.5),
    ("text", "warn_soft", 4.5),
    ("text", "danger_soft", 4.5),
    ("muted", "track", 3.0),
    ("accent", "track", 3.0),
    *((f"group_{n}", "surface", 3.0) for n in range(1, 10)),
    ("group_none", "surface", 3.0),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_pair_of_tokens_can_be_read(scheme: str) -> None:
    theme.apply(scheme=scheme)
    pale = [(ink, ground) for ink, ground, least in PAIRS if contrast(theme.color(ink), theme.color(ground)) < least]
    assert not pale


def test_dark_differs_from_light_in_every_ground_and_tells_the_pages(qtbot) -> None:
    theme.apply(scheme="light")
    before = {name: theme.hex(name) for name in TOKENS}
    with qtbot.waitSignal(theme.themeChanged):
        theme.apply(scheme="dark")
    assert theme.dark
    assert all(theme.hex(name) != before[name] for name in GROUNDS)
    assert QApplication.palette().window().color() == theme.color("surface")


def test_system_scheme_is_followed_while_the_window_is_open(qtbot, monkeypatch) -> None:
    theme.apply(scheme="dark")
    theme.apply(scheme="system")
    assert theme.dark == (QApplication.styleHints().colorScheme().name == "Dark")
    monkeypatch.setattr(type(theme), "_put_in_force", lambda self, app: setattr(self, "_seen", True))
    QApplication.styleHints().colorSchemeChanged.emit(QApplication.styleHints().colorScheme())
    assert theme._seen


def test_text_size_reaches_widgets_that_are_already_there(qtbot) -> None:
    label = QLabel("words")
    qtbot.addWidget(label)
    theme.set_role(label, "meta")
    before = label.font().pointSizeF()
    theme.apply(text_scale=200)
    assert label.font().pointSizeF() == pytest.approx(2 * before, rel=0.05)
    assert theme.height(32, padding=12) >= 2 * theme.metrics().height() * 0.5 + 12


def test_roles_keep_their_proportion_to_the_system_font() -> None:
    base = theme.font("body").pointSizeF()
    for role, (factor, weight) in ROLES.items():
        assert theme.font(role).pointSizeF() == pytest.approx(max(6.0, base * factor), rel=0.01)
        assert theme.font(role).weight() == weight
    assert theme.font("strong").weight() == QFont.Weight.DemiBold


def test_motion_is_off_when_less_motion_is_asked_for() -> None:
    theme.apply(reduce_motion=True)
    assert theme.duration(160) == 0
    theme.apply(reduce_motion=False)
    assert theme.duration(160) == 160


def test_groups_beyond_the_named_ones_get_colours_of_their_own() -> None:
    colors = {theme.group_color(number).name() for number in range(20)}
    assert len(colors) == 20
    assert theme.group_color(-1) == theme.color("group_none")


def test_a_new_tone_keeps_the_size_of_the_text(qtbot) -> None:
    label = QLabel("Files changed")
    qtbot.addWidget(label)
    theme.apply(text_scale=200)
    theme.set_role(label, "meta")
    label.show()
    theme.set_tone(label, "danger")
    assert label.font().pixelSize() == theme.font("meta").pixelSize()
    assert label.font().pointSizeF() == theme.font("meta").pointSizeF()
    theme.apply(text_scale=100)


def test_the_style_is_made_once_and_not_with_every_change_of_colours(qapp: QApplication, monkeypatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(QApplication, "setStyle", lambda *args: made.append(args[-1]))
    theme.apply(scheme="dark", text_scale=100)
    theme.apply(scheme="dark", text_scale=150)
    theme.apply(scheme="light", text_scale=100)
    assert not made
    monkeypatch.setattr(theme, "_styled", 0)
    theme.apply(scheme="dark", text_scale=100)
    assert made == ["Fusion"]
