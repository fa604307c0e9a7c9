"""The step in which the tuned model is compared with the one in use, and adopted, kept or discarded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import ComparisonView, interval_words
from sbert_desktop.domain import display_path
from sbert_desktop.ui.page import Action, Desk
from sbert_desktop.ui.saving import ask_target
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.changes import ChangesPane, groups_words
from sbert_desktop.ui.train.changes_table import UNJUDGED, changes_table, show_changes
from sbert_desktop.ui.train.comparing_bars import ComparisonBars
from sbert_desktop.ui.train.comparing_checks import Actions, ChecksPart
from sbert_desktop.ui.train.comparing_report import write_report
from sbert_desktop.ui.train.comparing_words import (
    about,
    adopted_words,
    by_what_decides,
    clear,
    judge,
    metric_words,
    move,
    refusal_words,
    shortened,
)
from sbert_desktop.ui.train.runs_deeds import run_deeds
from sbert_desktop.ui.widgets import Button, EmptyState, Label, Panel, Tag, announce, name

SIDE = 344
NO_BREAK = "\N{NO-BREAK SPACE}"
ROWS = 7
"""Changes that stand on the page; all of them are one press away."""


class ComparingStep(QWidget):
    """Shows a comparison.

    ``back``: the person wants to go to the step before. ``adopted``: the tuned model is being put to use, or was kept.
    ``discarded``: it was removed.
    """

    back = Signal()
    adopted = Signal()
    discarded = Signal()

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.setObjectName("train_comparing")
        self._view: ComparisonView | None = None
        self._refusal = ""  # why adopting was refused when it was tried
        self._busy = False
        self._undone = False
        self.deeds = run_deeds(desk)
        self.save = Button("Save report...", icon="export", object_name="train_save_report",
                           tip="Writes all figures of this comparison to a file")
        self.stack = QStackedWidget()
        self.stack.setObjectName("train_compare_stack")
        self.empty = EmptyState("Nothing to compare yet", "Train a model first; it is then compared with the one in "
                                "use, before anything changes.", action="Back", primary=False,
                                object_name="train_compare_empty")
        self.changes = ChangesPane()
        self.body = QWidget()
        self.page = self._make_page()
        for widget in (self.empty, self.page):
            self.stack.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.stack)
        self._connect()
        self._arrange()

    # ---- building

    def _make_page(self) -> QWidget:
        page = QWidget()
        self.row = QBoxLayout(QBoxLayout.Direction.LeftToRight, page)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(0)
        self.centre = QStackedWidget()
        self.centre.setObjectName("train_compare_centre")
        self.area = _scroll(self._make_centre(), "train_compare_scroll", "Comparison")
        self.centre.addWidget(self.area)
        self.centre.addWidget(self.changes)
        self.row.addWidget(self.centre, 1)
        self.checks, self.deed_part = ChecksPart(), Actions()
        self.side = Panel("surface", lines="left")
        self.side.setObjectName("train_compare_side")
        self.side_column = QVBoxLayout(self.side)
        self.side_column.setContentsMargins(1, 0, 0, 16)
        self.side_column.setSpacing(12)
        self.side_inner = QWidget()
        self.side_inner.setProperty("page", True)
        inner = QVBoxLayout(self.side_inner)
        inner.setContentsMargins(24, 24, 24, 8)
        inner.addWidget(self.checks)
        inner.addStretch(1)
        self.side_scroll = _scroll(self.side_inner, "train_compare_side_scroll", "Checks")
        # the bar takes its room from the margin, so that the rows end where the buttons do
        self.side_scroll.verticalScrollBar().rangeChanged.connect(
            lambda _low, high: inner.setContentsMargins(24, 24, 14 if high else 24, 8))
        self.side_column.addWidget(self.side_scroll, 1)
        self.side_foot = QVBoxLayout()
        self.side_foot.setContentsMargins(24, 0, 24, 0)
        self.side_foot.addWidget(self.deed_part)
        self.side_column.addLayout(self.side_foot)
        self.row.addWidget(self.side)
        self.foot = Panel("surface", lines="top")
        self.foot_column = QVBoxLayout(self.foot)
        self.foot_column.setContentsMargins(24, 12, 24, 12)
        self.row.addWidget(self.foot)
        return page

    def _make_centre(self) -> QWidget:
        inner = QWidget()
        inner.setProperty("page", True)
        column = QVBoxLayout(inner)
        self.column = column
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(0)
        top = QHBoxLayout()
        top.setSpacing(8)
        self.tag = Tag("", object_name="train_verdict_tag")
        self.about = Label("", tone="muted", wrap=True, object_name="train_compare_about")
        top.addWidget(self.tag, 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.about, 1)
        self.headline = Label("", role="verdict", wrap=True, object_name="train_verdict")
        self.below = Label("", tone="muted", wrap=True, object_name="train_verdict_below")
        for label in (self.headline, self.below):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bars = ComparisonBars()
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(Label("What would change for you", role="section"), 1)
        self.all = Button("Show all changes", kind="link", object_name="train_show_changes",
                          tip="Questions, searches side by side, duplicates, and the map")
        head.addWidget(self.all)
        self.table = changes_table("train_compare_changes", whole=True)
        self.unchanged = Label("", tone="muted", wrap=True, object_name="train_compare_unchanged")
        self.groups = Label("", role="meta", tone="muted", wrap=True, object_name="train_compare_groups")
        self.details = Button("Details", kind="link", icon="chevron_right", object_name="train_compare_details")
        self.details.setCheckable(True)
        self.figures = Label("", role="meta", tone="muted", wrap=True, object_name="train_compare_figures")
        self.figures.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.figures.hide()
        column.addLayout(top)
        column.addSpacing(8)
        for widget, gap in ((self.headline, 4), (self.below, 16), (self.bars, 24)):
            column.addWidget(widget)
            column.addSpacing(gap)
        column.addLayout(head)
        for part, gap in ((self.table, 8), (self.unchanged, 8), (self.groups, 4)):
            column.addWidget(part)
            column.addSpacing(gap)
        column.addWidget(self.details, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.figures)
        column.addSpacing(24)
        self.narrow_place = QVBoxLayout()  # the checks stand here where there is no room beside
        column.addLayout(self.narrow_place)
        column.addStretch(1)
        return inner

    def _connect(self) -> None:
        self.empty.clicked.connect(self.back)
        self.all.clicked.connect(self.show_changes)
        self.changes.backWanted.connect(self.hide_changes)
        self.details.toggled.connect(self._on_details)
        self.save.clicked.connect(self.save_report)
        self.table.rowActivated.connect(lambda _row: self.show_changes())
        self.deed_part.adoptWanted.connect(self.adopt)
        self.deed_part.keepWanted.connect(self.keep)
        self.deed_part.discardWanted.connect(self.discard)
        self.deed_part.backWanted.connect(self.go_back)
        deeds = self.deeds
        deeds.runsChanged.connect(self._show_actions)
        deeds.adopted.connect(self._on_adopted)
        deeds.kept.connect(self._on_kept)
        deeds.discarded.connect(self._on_discarded)
        deeds.undone.connect(self._on_undone)
        deeds.stayed.connect(self._on_stayed)
        deeds.refused.connect(self._on_refused)
        theme.themeChanged.connect(self._arrange)

    # ---- for the page

    def show_comparison(self, comparison: ComparisonView) -> None:
        """Shows a comparison."""
        comparison = by_what_decides(comparison)
        if comparison == self._view and self.stack.currentWidget() is self.page and not self._refusal:
            return  # the trainings were listed again: what the person opened stays open
        self._view, self._refusal, self._busy, self._undone = comparison, "", False, False
        said = judge(comparison)
        self.about.setText(about(comparison))
        self.headline.setText(said.headline)
        self.below.setText(said.below.replace(" %", f"{NO_BREAK}%"))
        self.bars.setVisible(comparison.measured)
        self.bars.show_comparison(comparison)
        self._show_changes(comparison)
        self.checks.show_comparison(comparison)
        self._order_tabs()
        self.changes.show_comparison(comparison)
        self.figures.setText(_figures(comparison))
        self.centre.setCurrentWidget(self.area)
        self.stack.setCurrentWidget(self.page)
        self.area.verticalScrollBar().setValue(0)
        self.save.setEnabled(True)
        self._show_actions()
        self.deeds.refresh()
        announce(self.headline, f"{said.tag}. {said.headline}. {said.below}")

    def activate(self) -> None:
        """Called each time the step comes to the front."""
        self.save.setEnabled(self._view is not None)
        self.deeds.refresh()

    def focus_first(self) -> None:
        """Puts the focus where work on this step begins."""
        if self.stack.currentWidget() is self.empty:
            target: QWidget | None = self.empty.button
        elif self.centre.currentWidget() is self.changes:
            self.changes.focus_first()
            return
        else:
            adopt = self.deed_part.adopt_button()
            back = self.deed_part.back
            target = adopt if adopt.isEnabled() else self.all if back.isHidden() else back
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        """Gives the step's commands for the palette."""
        if self._view is None:
            return ()
        actions = self.deed_part
        label = self._view.name
        return (
            Action("train_adopt", f"Adopt {label}", self.adopt, icon="check",
                   enabled=lambda: actions.adopt_button().isEnabled()),
            Action("train_go_back", actions.back.label(), self.go_back, icon="undo",
                   enabled=lambda: not actions.back.isHidden() and actions.back.isEnabled()),
            Action("train_keep", f"Keep {label} for later", self.keep, icon="models",
                   enabled=lambda: not actions.keep.isHidden() and actions.keep.isEnabled()),
            Action("train_discard", f"Discard {label}", self.discard, icon="trash", enabled=actions.discard.isEnabled),
            Action("train_changes", "Show what would change", self.show_changes, icon="eye"),
            Action("train_report", "Save the report of the comparison", self.save_report, icon="export"),
        )

    def head_widgets(self) -> Sequence[QWidget]:
        """Gives buttons that stand at the right of the page's head while this step is in front."""
        return (self.save,)

    # ---- showing

    def _order_tabs(self) -> None:
        """Lets Tab go as the eye does: the comparison or what would change, the checks, the actions."""
        actions = self.deed_part
        before: QWidget = self.changes.moves.table
        for widget in (*self.checks.rows, actions.primary, actions.plain, actions.keep, actions.discard):
            QWidget.setTabOrder(before, widget)
            before = widget

    def _show_changes(self, view: ComparisonView) -> None:
        rows = shortened(view.changes, ROWS)
        moved = sum(1 for row in view.changes if move(row))
        unjudged = show_changes(self.table, rows)
        self.table.setVisible(bool(rows))
        self.all.setVisible(bool(view.changes or view.searches or view.arrows))
        self.all.setText(f"Show all {moved} changes" if moved > len(rows) else "Show all that changes")
        still = "No right document changes its place." if view.changes else \
            "There are no searches to compare yet; what you save in Search is compared here."
        self.unchanged.setText(still)
        self.unchanged.setVisible(not rows)
        said = [UNJUDGED] if unjudged else []
        said += [groups_words(view)] if view.kind != "cross-encoder" else []
        self.groups.setText("\n".join(said))
        self.groups.setVisible(bool(said))

    def _show_actions(self) -> None:
        view = self._view
        if view is None:
            return
        state = self.deeds.state_of(view.run)
        if self._undone and state == "adopted":  # it was taken back; the list still says what was before
            state = "kept"
        reason = self._refusal or refusal_words(view)
        stays = self.deeds.preparing(view.run, view)
        said = judge(view)
        tag = (said.tag, said.tone, said.icon)
        if state == "adopted":
            tag = ("Being prepared", "accent", "refresh") if stays else ("In use", "good", "check")
        self.tag.set_text(*tag)
        self.checks.adoption.setVisible(state != "adopted")  # it has happened
        self.checks.show_adoption(self.deeds.comparison(view.run) or view)
        self.bars.set_replaced(state == "adopted" and not stays)
        back = self.deeds.way_back(view.run, view) if state == "adopted" and view.kind != "cross-encoder" else None
        if state == "adopted":
            since = self.deeds.decided(view.run)
            reason = f"{view.name} is being prepared. Until it is ready, search uses the model before." if stays else \
                f"{view.name} is in use{adopted_words(since)}."
        self.deed_part.show_state(view, state, may_adopt=not view.refusal, reason=reason, busy=self._busy,
                                  primary=view.recommended and not view.refusal and clear(view) > 0,
                                  back=back.name if back is not None else "", stays=stays)

    def show_changes(self) -> None:
        """Shows all that would change in place of the comparison."""
        if self._view is not None:
            self.centre.setCurrentWidget(self.changes)
            self.changes.focus_first()

    def hide_changes(self) -> None:
        """Goes back to the comparison."""
        self.centre.setCurrentWidget(self.area)
        self.all.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_details(self, open_: bool) -> None:
        self.figures.setVisible(open_)
        self.details.set_icon("chevron" if open_ else "chevron_right")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Puts the checks beside the comparison, or below it where there is no room."""
        scale = max(100, theme.text_scale)
        side = SIDE * (100 + (scale - 100) // 2) // 100
        wide = self.width() >= side + 480 * (100 + (scale - 100) // 2) // 100
        self.side.setFixedWidth(side)
        if wide == (not self.side.isHidden()) and self.foot.isHidden() == wide:
            return
        inner = self.side_inner.layout()
        assert isinstance(inner, QVBoxLayout)
        if wide:
            inner.insertWidget(0, self.checks)
            self.side_foot.addWidget(self.deed_part)
        else:
            self.narrow_place.addWidget(self.checks)
            self.foot_column.addWidget(self.deed_part)
        self.deed_part.set_in_line(not wide)
        self.side.setVisible(wide)
        self.foot.setVisible(not wide)
        self.row.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)

    # ---- doing

    def adopt(self) -> None:
        """Puts the tuned model to use."""
        view = self._view
        if view is None or view.refusal or self._busy:
            return
        self._busy, self._refusal, self._undone = True, "", False
        self._show_actions()
        self.deeds.adopt(view.run, view)

    def go_back(self) -> None:
        """Takes the adoption back: search uses the model before, and this one is kept."""
        view = self._view
        if view is not None and not self._busy:
            self._busy = True
            self._show_actions()
            self.deeds.go_back(view.run, view)

    def keep(self) -> None:
        """Keeps the tuned model among the models."""
        if self._view is not None:
            self.deeds.keep(self._view.run, self._view.name)

    def discard(self) -> None:
        """Removes the tuned model."""
        if self._view is not None:
            self.deeds.discard(self.window(), self._view.run, self._view.name, self._view.seconds)

    def save_report(self) -> None:
        """Asks for a file and writes the comparison into it."""
        view = self._view
        if view is None:
            return
        target = ask_target(self, "Save report", str(Path.home() / f"{view.name} compared.md"),
                            (("Text with headings (Markdown)", ".md"),))
        if target is not None:
            self.desk.errands.run(lambda: write_report(view, target),
                                  lambda written: self.desk.toast(f"Saved {display_path(written.name)}"),
                                  lambda error: self.desk.toast(f"The report could not be saved: {error}"))

    def _is_mine(self, run: str) -> bool:
        return self._view is not None and self._view.run == run

    def _on_adopted(self, run: str) -> None:
        if self._is_mine(run):
            self._busy = False
            self._show_actions()
            self.adopted.emit()

    def _on_stayed(self, run: str) -> None:
        if self._is_mine(run):
            self._busy = False
            self._show_actions()

    def _on_kept(self, run: str) -> None:
        if self._is_mine(run):
            self._show_actions()
            self.adopted.emit()

    def _on_discarded(self, run: str) -> None:
        if self._is_mine(run):
            self.stack.setCurrentWidget(self.empty)
            self.save.setEnabled(False)
            self.discarded.emit()

    def _on_undone(self, run: str) -> None:
        if self._is_mine(run):
            self._busy, self._undone = False, True
            self.stack.setCurrentWidget(self.page)
            self.save.setEnabled(True)
            self._show_actions()

    def _on_refused(self, run: str, why: str) -> None:
        if self._is_mine(run):
            self._busy, self._refusal = False, why
            self._show_actions()
            announce(self.deed_part.reason, why)


def _figures(view: ComparisonView) -> str:
    """Gives the figures as the field writes them."""
    if not view.measured:
        return "\n".join(["No figures.", *view.notes])
    rows = [f"{metric_words(view.metric)}: {view.base:.3f} now, {view.tuned:.3f} tuned; difference "
            f"{view.difference:+.3f}, 95 % interval {interval_words(view.low, view.high, 3)} (paired bootstrap over "
            "documents)"]
    intervals = {one.metric: one for one in view.measures}
    for metric, base, tuned in view.other_metrics or [(one.metric, one.base, one.tuned) for one in view.measures]:
        if metric == view.metric:
            continue
        text = f"{metric_words(metric)}: {base:.3f} now, {tuned:.3f} tuned"
        known = intervals.get(metric)
        rows.append(f"{text}; 95 % interval {interval_words(known.low, known.high, 3)}" if known is not None else text)
    rows += [f"Trained on: {view.device}"] if view.device else []
    return "\n".join([*rows, *view.notes])


def _scroll(inner: QWidget, object_name: str, title: str) -> QScrollArea:
    area = QScrollArea()
    name(area, object_name, title)
    area.setWidget(inner)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area
