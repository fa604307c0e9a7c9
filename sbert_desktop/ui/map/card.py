"""The card beside the pointer: what the document under it is. It takes neither clicks nor the focus."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.atlas_views import MapCard, MapUnit
from sbert_desktop.ui.map.rows import place_words, title_words
from sbert_desktop.ui.map.words import counted
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Card, ElidedLabel, Label, name

WIDE = 288
LETTERS = 180
AWAY = 14


class HoverCard(Card):
    """Title, place, first words, cluster, and how many more lie on the same spot."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(parent=host)
        name(self, "map_card", "Document under the pointer")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.point = -1
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(2)
        self.title = ElidedLabel(role="strong", object_name="map_card_title")
        self.place = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="meta", tone="muted",
                                 object_name="map_card_place")
        self.text = Label("", role="meta", wrap=True, object_name="map_card_text")
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.theme_name = ElidedLabel(role="meta_medium", tone="muted", object_name="map_card_cluster")
        self.more = Label("", role="meta", tone="muted", object_name="map_card_more")
        foot.addWidget(self.theme_name, 1)
        foot.addWidget(self.more)
        for widget in (self.title, self.place, self.text):
            column.addWidget(widget)
        column.addSpacing(4)
        column.addLayout(foot)
        self.hide()

    def describe(self, card: MapCard, unit: MapUnit, cluster: str = "") -> str:
        """Fills it, and gives it as one sentence for a screen reader."""
        self.point = card.point
        document = card.document
        self.title.set_full_text(title_words(document))
        self.place.set_full_text(place_words(document))
        own = " ".join(quick_path(card.text.replace("\n", " ")).split())
        self.text.setText(own if len(own) <= LETTERS else f"{own[:LETTERS].rsplit(' ', 1)[0]}…")
        self.text.setVisible(bool(own))
        named = quick_path(card.theme or cluster)
        self.theme_name.set_full_text(named)
        self.theme_name.setVisible(bool(named))
        more = f"+ {counted(card.more, unit)} on this spot" if card.more else ""
        self.more.setText(f"+ {card.more:,} more on this spot" if card.more else "")
        self.more.setVisible(bool(card.more))
        return ", ".join(piece for piece in (title_words(document), place_words(document), named, more) if piece)

    def place_beside(self, spot: QPoint, room: QRect) -> None:
        """Shows it beside a spot of the host, inside of ``room``, never under the pointer."""
        wide = min(WIDE * (100 + (theme.text_scale - 100) // 2) // 100, room.width() - 16)
        self.setFixedWidth(max(160, wide))
        layout = self.layout()
        assert layout is not None
        layout.activate()
        tall = layout.heightForWidth(self.width()) if layout.hasHeightForWidth() else self.sizeHint().height()
        self.setFixedHeight(tall)
        x = spot.x() + AWAY if spot.x() + AWAY + self.width() <= room.right() else spot.x() - AWAY - self.width()
        y = spot.y() + AWAY if spot.y() + AWAY + tall <= room.bottom() else spot.y() - AWAY - tall
        x = max(room.left() + 8, min(x, room.right() - self.width() - 8))
        y = max(room.top() + 8, y)
        box = QRect(x, y, self.width(), tall)
        if box.contains(spot):  # a narrow room pushed it back under the pointer
            box.moveTop(max(room.top(), spot.y() - AWAY - tall) if spot.y() - AWAY - tall >= room.top()
                        else spot.y() + AWAY)
        self.setGeometry(box)
        self.show()
        self.raise_()

    def put_away(self) -> None:
        """Hides it."""
        self.point = -1
        self.hide()

