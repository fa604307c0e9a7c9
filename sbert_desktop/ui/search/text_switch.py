"""A button that floats over the preview: the text of what is drawn as a page, and back."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QStackedWidget

from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, plain_tip

EDGE = 12  # to the lower right corner, beside the scroll bar


class TextSwitch(Button):
    """``switched(bool)``: True for the text. It lies over ``host``, in the corner where pages are mostly empty."""

    switched = Signal(bool)

    def __init__(self, host: QStackedWidget) -> None:
        super().__init__("Text", size="small", icon="text", object_name="preview_as_text")
        self.setParent(host)
        self._host = host
        self._text = False
        self.clicked.connect(lambda: self.switched.emit(not self._text))
        host.installEventFilter(self)
        host.currentChanged.connect(lambda _number: self.raise_())
        theme.themeChanged.connect(self._place)
        self.show_text(False)
        self.hide()

    def show_text(self, text: bool) -> None:
        """Names what a click leads to: the page while the text is shown."""
        self._text = text
        self.setText("Page" if text else "Text")
        self.set_icon("file" if text else "text")
        tip = "Show the page as it looks" if text else "Show the text, to select, copy and find words in it"
        self.setToolTip(plain_tip(tip))
        self.setAccessibleName(tip)
        self._place()

    def _place(self) -> None:
        size = self.sizeHint()
        self.setGeometry(max(0, self._host.width() - size.width() - EDGE - 8),
                         max(0, self._host.height() - size.height() - EDGE), size.width(), size.height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follows the size of the preview."""
        if watched is self._host and event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)
