"""Empty, loading, and the message at the foot of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QPoint, QPointF, QPropertyAnimation, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.ui import icons
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets.buttons import Button, IconButton
from sbert_desktop.ui.widgets.painting import announce, name, paint_box
from sbert_desktop.ui.widgets.text import ElidedLabel, Label


class Drawing(QWidget):
    """A drawing of 168 x 112 made of paths: ``documents``, ``nothing``, ``problem``, ``model``, ``done``."""

    def __init__(self, kind: str = "documents", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = kind
        self.setFixedSize(168, 112)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(theme.color("muted"), 1.5)
        if self._kind != "model":
            for x, angle in ((18, -8), (96, 8)):
                painter.save()
                painter.setPen(pen)
                painter.setBrush(theme.color("raised"))
                painter.translate(x + 27, 60)
                painter.rotate(angle)
                painter.drawRoundedRect(QRectF(-27, -35, 54, 70), 4, 4)
                painter.restore()
            painter.setPen(pen)
            painter.setBrush(theme.color("raised"))
            painter.drawRoundedRect(QRectF(55, 12, 58, 78), 4, 4)
            for row in range(6):
                y = 28 + row * 10
                width = (30, 40, 40, 40, 40, 22)[row]
                if row == 2 and self._kind == "documents":
                    painter.fillRect(QRectF(62, y - 5, 44, 10), theme.color("mark"))
                painter.setPen(QPen(theme.color("text" if row == 2 and self._kind == "documents" else "muted"), 1.5))
                painter.drawLine(QPointF(64, y), QPointF(64 + width, y))
        badge = {"documents": "", "nothing": "search", "problem": "warning", "done": "check", "model": "models"}
        inked = {"problem": "warn", "done": "good"}.get(self._kind, "accent")
        if self._kind == "model":
            icons.draw(painter, "models", QRectF(44, 16, 80, 80), theme.color("muted"))
            return
        painter.setPen(QPen(theme.color(inked), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.setBrush(theme.color("raised"))
        if badge[self._kind] in ("warning", "check"):
            painter.drawEllipse(QPointF(112, 86), 16, 16)
            icons.draw(painter, badge[self._kind], QRectF(103, 76.5 if self._kind == "problem" else 77, 18, 18),
                       theme.color(inked))
            return
        painter.drawEllipse(QPointF(112, 86), 14, 14)
        painter.drawLine(QPointF(122.5, 96.5), QPointF(132, 106))
        if self._kind == "nothing":
            painter.drawLine(QPointF(107, 86), QPointF(117, 86))


class EmptyState(QWidget):
    """A drawing, a title, one sentence and at most one button (``button``, None without a text)."""

    clicked = Signal()

    def __init__(self, title: str, sentence: str = "", *, action: str = "", icon: str = "", drawing: str = "documents",
                 object_name: str = "empty", primary: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(0)
        column.addStretch(1)
        column.addWidget(Drawing(drawing), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(16)
        self.title = Label(title, role="page_title", wrap=True, object_name=f"{object_name}_title")
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.title)
        column.addSpacing(8)
        self.sentence = Label(sentence, tone="muted", wrap=True, object_name=f"{object_name}_sentence")
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence.setFixedWidth(440)
        column.addWidget(self.sentence, 0, Qt.AlignmentFlag.AlignHCenter)
        self.button: Button | None = None
        if action:
            column.addSpacing(16)
            self.button = Button(action, kind="primary" if primary else "normal", size="large", icon=icon,
                                 object_name=f"{object_name}_action")
            self.button.clicked.connect(self.clicked)
            column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)

    def set_texts(self, title: str, sentence: str) -> None:
        """Changes title and sentence, and says them."""
        self.title.setText(title)
        self.sentence.setText(sentence)
        self._fit()
        announce(self, f"{title}. {sentence}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        # an aligned label gets no height for its width from the layout: its lines would be cut off
        width = max(160, min(440 * max(100, theme.text_scale) // 100, self.width() - 48))
        self.sentence.setFixedWidth(width)
        self.sentence.setMinimumHeight(self.sentence.heightForWidth(width) if self.sentence.text() else 0)


class SkeletonList(QWidget):
    """Rows of two grey bars while a list loads; says "Loading" to a screen reader."""

    def __init__(self, rows: int = 6, *, row_height: int = 84, object_name: str = "skeleton",
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows, self._row_height = rows, row_height
        name(self, object_name, "Loading")

    def sizeHint(self) -> QSize:
        return QSize(320, self._rows * self._row_height)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._row_height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("track"))
        for row in range(self._rows):
            y = row * self._row_height + self._row_height // 2 - 14
            for number, share in enumerate(((0.42, 0.80), (0.55, 0.66), (0.36, 0.74))[row % 3]):
                painter.drawRoundedRect(QRectF(46, y + number * 20, max(40.0, (self.width() - 160) * share), 8), 2, 2)
            painter.drawRoundedRect(QRectF(16, y - 4, 18, 18), 4, 4)


class Toast(QFrame):
    """A message at the foot of the window, with an optional action such as Undo.

    One is shown at a time; a new one takes the place of the old. It never takes the focus; Ctrl+Z
    of the window runs its action. It goes after 8 s (with an action) or 4 s, not while the pointer
    is over it or the focus within.
    """

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self.setObjectName("toast")
        self.setAccessibleName("Message")
        self._action: Callable[[], object] | None = None
        self._expired: Callable[[], object] | None = None
        self.lift: Callable[[], int] = lambda: 0  # height of what at the foot of the window must stay free
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 8, 8)
        row.setSpacing(12)
        self.label = ElidedLabel(role="body", object_name="toast_text")
        self.button = Button("Undo", kind="link", object_name="toast_action")
        self.close_button = IconButton("close", "Dismiss", object_name="toast_close", size=24, icon_size=16)
        row.addWidget(self.label, 1)
        row.addWidget(self.button)
        row.addWidget(self.close_button)
        self.button.clicked.connect(self.run_action)
        self.close_button.clicked.connect(self.dismiss)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)
        self._move = QPropertyAnimation(self, b"pos", self)
        self._move.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.hide()

    def show_message(self, text: str, *, action: str = "", run: Callable[[], object] | None = None,
                     expired: Callable[[], object] | None = None, seconds: float | None = None) -> None:
        """Shows a message; ``run`` is called by its button, ``expired`` when it went without it."""
        self._finish()
        self._action, self._expired = run, expired
        self.label.set_full_text(text)
        self.button.setVisible(bool(action))
        if action:
            self.button.setText(action)
        self.place()
        self.show()
        self.raise_()
        end = self.pos()
        if theme.duration(120):
            self._move.setDuration(theme.duration(120))
            self._move.setStartValue(end + QPoint(0, 8))
            self._move.setEndValue(end)
            self._move.start()
        announce(self, f"{text}. {action} with Ctrl+Z" if action else text)
        self._timer.start(int(1000 * (seconds if seconds is not None else 8 if action else 4)))

    def place(self) -> None:
        """Puts the toast to the middle of the host's foot; call it when the host was resized."""
        host = self.parentWidget()
        assert host is not None
        extra = 16 + 8 + 24 + 12 + (self.button.sizeHint().width() + 12 if self.button.isVisibleTo(self) else 0)
        width = min(host.width() - 48, self.label.sizeHint().width() + extra + 8)
        self.resize(width, theme.height(40, padding=20))
        self.move((host.width() - width) // 2, host.height() - self.height() - 44 - self.lift())

    def has_action(self) -> bool:
        """True while its action can be run."""
        return self.isVisible() and self._action is not None

    def run_action(self) -> None:
        """Runs the action and closes."""
        action, self._action, self._expired = self._action, None, None
        self.dismiss()
        if action is not None:
            action()

    def dismiss(self) -> None:
        """Closes; what could be undone is final."""
        self._timer.stop()
        self._move.stop()
        self.hide()
        self._finish()

    def _finish(self) -> None:
        expired, self._action, self._expired = self._expired, None, None
        if expired is not None:
            expired()

    def _on_timeout(self) -> None:
        if self.underMouse() or self.button.hasFocus() or self.close_button.hasFocus():
            self._timer.start(1500)
            return
        self.dismiss()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_box(QPainter(self), self.rect(), "raised", "muted")


class Notice(QFrame):
    """A sentence in the page on a soft fill, with at most one action and a way to put it away.

    It stays until it is put away: for what a person has to read, not for what merely happened.
    """

    def __init__(self, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, "Notice")
        self._run: Callable[[], object] | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(12)
        self.label = Label("", wrap=True, object_name=f"{object_name}_text")
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.button = Button("", size="small", object_name=f"{object_name}_action")
        self.close_button = IconButton("close", "Dismiss", object_name=f"{object_name}_close", size=24, icon_size=16)
        row.addWidget(self.label, 1)
        row.addWidget(self.button)
        row.addWidget(self.close_button)
        self.button.clicked.connect(self._on_clicked)
        self.close_button.clicked.connect(self.hide)
        self.hide()

    def show_text(self, text: str, *, action: str = "", run: Callable[[], object] | None = None) -> None:
        """Shows a sentence; the button appears only with an action."""
        self._run = run
        self.label.setText(text)
        self.button.setVisible(bool(action))
        self.button.setText(action)
        self.show()
        announce(self, text)

    def _on_clicked(self) -> None:
        run, self._run = self._run, None
        self.hide()
        if run is not None:
            run()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_box(QPainter(self), self.rect(), "warn_soft", None)
