"""The small controls that every page is built from, painted with the theme's tokens.

- :class:`Label`, :class:`ElidedLabel`: text, always plain, in a role and a tone.
- :class:`Button` (normal, primary, link; normal, large, small), :class:`IconButton`, :class:`CheckBox`,
  :class:`Chip` (a filter with a value), :class:`ComboBox`, :class:`Segmented` (one of a few words).
- :class:`Tag`, :class:`ScoreBar`, :class:`ProgressBar`, :class:`KeyCap`, :class:`Line`, :class:`Card`: to look at.
- :class:`SearchBox`: magnifier, line edit, clear button in one frame. :class:`NumberBox`: a whole number.
- :class:`EmptyState`: a drawing, one sentence, one button. :class:`SkeletonList`: rows while loading.
- :class:`Toast`: a message at the window's foot with an optional action (Undo), said to screen readers.
- :class:`FlowLayout`: left to right, wrapping.

Every control takes its ``object_name``; its accessible name is its text unless another is given.
Texts from documents and file names never reach a rich-text parser: see :func:`plain_tip`.
"""

from __future__ import annotations

from sbert_desktop.ui.widgets.buttons import Button, CheckBox, Chip, ComboBox, IconButton, Segmented
from sbert_desktop.ui.widgets.display import (
    Card,
    KeyCap,
    Line,
    Panel,
    ProgressBar,
    ScoreBar,
    Tag,
    key_cap_width,
    paint_key_cap,
    paint_tag,
    tag_width,
)
from sbert_desktop.ui.widgets.layout import FlowLayout, StyledWidget, menu
from sbert_desktop.ui.widgets.painting import (
    KeyboardFocus,
    announce,
    name,
    no_mnemonic,
    paint_bar,
    paint_box,
    paint_focus,
    plain_tip,
    set_tip,
)
from sbert_desktop.ui.widgets.search_box import NumberBox, SearchBox
from sbert_desktop.ui.widgets.states import Drawing, EmptyState, Notice, SkeletonList, Toast
from sbert_desktop.ui.widgets.text import ElidedLabel, Label

__all__ = [
    "Button",
    "Card",
    "CheckBox",
    "Chip",
    "ComboBox",
    "Drawing",
    "ElidedLabel",
    "EmptyState",
    "FlowLayout",
    "IconButton",
    "KeyCap",
    "KeyboardFocus",
    "Label",
    "Line",
    "Notice",
    "NumberBox",
    "Panel",
    "ProgressBar",
    "ScoreBar",
    "SearchBox",
    "Segmented",
    "SkeletonList",
    "StyledWidget",
    "Tag",
    "Toast",
    "announce",
    "key_cap_width",
    "menu",
    "name",
    "no_mnemonic",
    "paint_bar",
    "paint_box",
    "paint_focus",
    "paint_key_cap",
    "paint_tag",
    "plain_tip",
    "set_tip",
    "tag_width",
]
