"""Draws every page of the window offscreen into PNG files.

    python packaging/screenshots.py --library DIR --out DIR [--theme light|dark] [--scale 1|2]
                                    [--text 100] [--size 1280x800] [--fake STATE] [--only NAME]
                                    [--query WORDS] [--show FILE]

With ``--library`` the real program answers from that library; with ``--fake STATE`` (empty, full,
indexing, paused, refused, huge, readonly, kinds, bare, calm, failed) canned data of the tests is shown instead.

The pictures of docs/images: a HOME with the sample's folders in Documents and Notes, both indexed, then
``--query "when do I get my deposit back" --show tenancy-agreement`` (light), and in dark
``--query "something is eating my plants at night" --theme dark --only 02-search``. library.png is 04-library of
that library; problems.png is ``--only 05-library-problems --show "Floor plan"`` of another one with files that
cannot be read: scans, a cut-off document, a locked PDF, a mailbox with a scan attached.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from PySide6.QtGui import QImage

ROOT = Path(__file__).resolve().parent.parent
FONTS = ("/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu", "/usr/share/fonts")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Draw every page of the window into PNG files.")
    parser.add_argument("--library", type=Path, help="library whose content is shown")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--scale", type=int, choices=(1, 2), default=1, help="device pixels per logical pixel")
    parser.add_argument("--text", type=int, default=100, help="size of all text in per cent")
    parser.add_argument("--size", default="1280x800", help="logical size of the window")
    parser.add_argument("--fake", default="", help="state of the canned data, instead of a library")
    parser.add_argument("--query", default="", help="words to search for")
    parser.add_argument("--show", default="", help="choose the result whose file name holds this")
    parser.add_argument("--only", default="", help="only pictures whose name holds this")
    options = parser.parse_args(arguments)
    if not options.library and not options.fake:
        parser.error("name a --library, or --fake STATE")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ["QT_SCALE_FACTOR"] = str(options.scale)
    os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.*=false")
    if "QT_QPA_FONTDIR" not in os.environ:
        found = next((folder for folder in FONTS if Path(folder).is_dir()), "")
        if found:
            os.environ["QT_QPA_FONTDIR"] = found
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ui")]
    with tempfile.TemporaryDirectory() as home:
        if options.fake:
            os.environ["SBERT_DESKTOP_HOME"] = home
        return Camera(options).run()


class Camera:
    """Takes the pictures, one after the other."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.taken = 0
        options.out.mkdir(parents=True, exist_ok=True)

    def run(self) -> int:
        """Makes the window and takes every picture; gives the exit status."""
        from PySide6.QtGui import QFont
        from PySide6.QtWidgets import QApplication

        from sbert_desktop.settings import Settings
        from sbert_desktop.ui.main_window import MainWindow
        from sbert_desktop.ui.theme import theme

        self.app = QApplication([])
        font = QFont(self.app.font())
        font.setPixelSize(13)  # the size of a usual desktop; the offscreen platform's own is smaller
        self.app.setFont(font)
        self.app.setQuitOnLastWindowClosed(False)
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(Path(folder) / "settings.toml")
            settings.set("appearance.theme", self.options.theme)
            settings.set("appearance.text_scale", self.options.text)
            settings.set("appearance.reduce_motion", True)
            theme.apply(scheme=self.options.theme, text_scale=self.options.text, reduce_motion=True)
            library = self.options.library or Path(folder) / "library"
            self.window = MainWindow(library)
            width, _, height = self.options.size.partition("x")
            self.window.resize(int(width), int(height))
            self.window.show()
            self.settle(0.1)
            self.take("00-opening")
            if self.options.fake == "failed":
                from sbert_desktop.domain import Failure

                self.window.show_opening_failure(Failure(
                    "library-newer", "This library was written by a newer version of the program.",
                    "Install that version, or name another library."))
                self.take("00-failed")
            else:
                commands = self.commands(settings, library)
                self.window.connect_program(commands)
                self.wait(lambda: self.window.desk is not None and self.window.desk.library is not None)
                if not self.options.fake:
                    # the model is prepared in the background; a picture of search waits for it
                    self.wait(lambda: self.window.desk.library.model.state != "preparing", 180.0)
                self.pictures()
            self.window.close()
            self.wait(lambda: not self.window.isVisible())
            self.settle(0.3)
        print(f"{self.taken} pictures in {self.options.out}")
        return 0

    def commands(self, settings: object, library: Path):
        """Gives the program behind the window."""
        if self.options.fake:
            from fake_app import FakeApp

            return FakeApp(settings, state=self.options.fake)
        from sbert_desktop.app.facade import App

        return App(library, settings)

    def pictures(self) -> None:
        """Takes the pictures of every page."""
        window = self.window
        window.show_page("search")
        self.settle(0.3)
        self.take("01-search-start")
        query = self.options.query or "when do I get my deposit back"
        window.search_for(query)
        self.settle(1.5 if self.options.fake else 4.0)
        self.choose(self.options.show)
        self.take("02-search")
        if self.options.fake == "full":
            self.search_pictures()
        if self.options.fake in ("kinds", "bare"):
            results = window.page("search").page
            results.model.set_open(3, True)  # a transcript: who spoke, and when
            results.list.choose(4)
            self.settle(0.4)
            self.take("02-search-transcript")
        window.show_page("models")
        self.settle(0.4)
        self.take("03-models")
        window.show_page("duplicates")
        self.settle(0.8)
        self.take("50-duplicates")
        if self.options.fake == "full":
            self.duplicates_pictures()
        if self.options.fake == "huge":
            window.page("duplicates").look()
            self.settle(3.0)
            self.take("50-duplicates-many")
        self.atlas_pictures()
        self.training_pictures()
        window.show_page("library")
        self.settle(0.6)
        self.take("04-library")
        page = window.page("library")
        for at, name in ((1, "problems"), (2, "left-out"), (3, "recent"), (4, "health")):
            page.tabs.setCurrentIndex(at)
            self.settle(0.5)
            if name == "problems":
                self.choose_problem(page.problems.table, self.options.show)
            self.take(f"05-library-{name}")
        page.tabs.setCurrentIndex(0)
        window.show_page("settings")
        self.settle(0.2)
        self.take("06-settings")
        window.open_palette()
        self.settle(0.2)
        self.take("07-palette")
        window.palette_sheet.edit.setText("fold")
        self.settle(0.1)
        self.take("07-palette-typed")
        window.palette_sheet.close_sheet()
        window.open_shortcuts()
        self.settle(0.1)
        self.take("08-shortcuts")
        window.shortcuts_sheet.close_sheet()
        window.drop.offer((Path.home() / "Documents", Path.home() / "Notes"))
        self.settle(0.1)
        self.take("09-drop")
        window.drop.hide()
        if self.options.fake:
            self.fake_pictures()

    def training_pictures(self) -> None:
        """Takes the Train page: judging, all judgements, a table that is imported, the checks, and what stops them."""
        from sbert_desktop.app.training_views import Task
        from sbert_desktop.ui.train.history_sheet import HistorySheet
        from sbert_desktop.ui.train.import_sheet import ImportSheet

        window = self.window
        window.show_page("train")
        page = window.page("train")
        self.wait(lambda: page.labelling.view() is not None)
        self.settle(0.8)
        self.take("60-train-judge")
        if self.options.fake != "full":
            return
        fake = window.commands
        for judged, name in ((8, "60-train-refused"), (130, "60-train-check")):
            fake.judge(judged)
            window.desk.start(fake.labels(Task.SAME))
            self.settle(0.3)
            page.show_step("check")
            self.settle(0.6)
            self.take(name)
            page.show_step("judge")
        page.show_step("check")
        page.checking.options.more.click()
        self.settle(0.3)
        self.take("60-train-advanced")
        page.show_step("judge")
        page.labelling.graded.click()
        self.settle(0.2)
        self.take("60-train-graded")
        page.labelling.graded.click()
        page.show_history()
        self.settle(0.3)
        self.take("60-train-history")
        window.findChild(HistorySheet).close_sheet()
        page.import_pairs()
        window.findChild(ImportSheet).look(Path.home() / "Documents" / "pairs.csv")
        self.settle(0.5)
        self.take("60-train-import")
        window.findChild(ImportSheet).close_sheet()
        page.labelling.show_task(Task.ANSWERS)
        self.settle(0.5)
        self.take("60-train-answers")
        fake.pairs_left = 0
        page.labelling.feeds[Task.ANSWERS]._waiting.clear()
        page.labelling.feeds[Task.ANSWERS].again()
        self.settle(0.5)
        self.take("60-train-no-questions")
        fake.pairs_left = None
        page.labelling.show_task(Task.SAME)

    def search_pictures(self) -> None:
        """Takes the Search page with all that a query can ask and a hit can tell."""
        from PySide6.QtCore import QItemSelectionModel, QPoint
        from PySide6.QtWidgets import QMenu

        page = self.window.page("search").page
        self.window.search_for('deposit "thirty days" type:pdf -car after:2022')
        self.settle(0.5)
        page.deeds.judge("relevant")
        page.list.choose(1)
        page.deeds.judge("not relevant")
        page.deeds.steer(1)
        page.inspector.why.details_button.click()
        self.settle(0.6)
        self.window.toast.dismiss()
        self.take("02-search-language")
        page.model.set_open(0, True)
        page.list.choose(1)
        rows = page.list.selectionModel()
        for number in (2, 4):
            rows.select(page.model.index(number), QItemSelectionModel.SelectionFlag.Select)
        self.settle(0.6)
        self.take("02-search-several")
        for name, menu, place in (("row", page.list.make_menu(), page.list.mapTo(self.window, QPoint(160, 60))),
                                  ("filter", page.filters.add_button.menu(),
                                   page.filters.add_button.mapTo(self.window, QPoint(0, 30)))):
            self.take_menu(f"02-search-menu-{name}", menu, place)
            assert isinstance(menu, QMenu)
        page.narrowing.show_language()
        self.settle(0.1)
        self.take("02-search-help")
        page.narrowing.help.close_sheet()
        number = page.model.find(page.model.documents[3].hits[0].passage_id)  # a letter: its text, and its versions
        page.list.choose(number)
        self.settle(0.9)
        page.inspector.open_find()
        page.inspector.find_bar.box.set_text("deposit")
        self.settle(0.2)
        self.take("02-search-find")
        page.inspector.close_find()
        page.inspector.why.details_button.click()
        page.search_like("The landlord returns the deposit within thirty days after the keys are handed over.")
        self.settle(0.6)
        self.take("02-search-like")
        page.filters.similar_chip.cleared.emit()
        self.window.search_for(self.options.query or "when do I get my deposit back")
        self.settle(0.6)

    def atlas_pictures(self) -> None:
        """Takes the Clusters and Map pages, the map with what a person drew a line around."""
        import numpy as np

        window = self.window
        patience = 1.0 if self.options.fake else 12.0
        window.show_page("clusters")
        self.wait(lambda: window.desk.themes is not None, patience)
        window.show_page("map")
        page = window.page("map")
        self.wait(lambda: page.canvas.map is not None and len(page.canvas.map) > 0, patience)
        self.settle(1.5)
        self.take("70-map")
        view = page.canvas.map
        if view is not None and len(view) > 3:
            near = ((view.positions - view.positions[0]) ** 2).sum(axis=1)
            page.canvas.select(np.sort(np.argsort(near)[: max(3, len(view) // 12)]).astype(np.int32))
            self.settle(1.0)
            self.take("71-map-chosen")
            page.canvas.clear_selection()
        window.show_page("clusters")
        self.settle(1.5)
        self.take("72-clusters")

    def duplicates_pictures(self) -> None:
        """Takes the Duplicates page in each of its states."""
        from sbert_desktop.domain import Failure

        window, commands = self.window, self.window.desk.commands
        page = window.page("duplicates")

        def group(title: str) -> None:
            page.column.list.choose([one.title for one in page.column.list.groups_model.groups].index(title))
            self.settle(0.5)

        page.strip.kinds.setCurrentIndex(2)
        page.strip.kinds.activated.emit(2)
        self.settle(0.4)
        self.take("51-duplicates-ticked-anew")
        window.toast.dismiss()
        group("Coast walk plan 2024")
        self.take("51-duplicates-near")
        group("Soil moisture protocol v3")
        page._on_tick(page.detail.members.members_model.members[2])
        self.take("51-duplicates-refused")
        page.bubble.hide()
        group("Photos of the garden")
        self.take("51-duplicates-folders")
        page.column.filter_button.click()
        page.show_kinds("related")
        self.settle(0.3)
        self.take("52-duplicates-related")
        page.column.alike.slider.setValue(95)
        self.settle(0.4)
        self.take("52-duplicates-nothing")
        page.column.alike.slider.setValue(80)
        page.column.filter_button.click()
        page.show_kinds("all")
        self.settle(0.4)
        page.show_view("passages")
        self.settle(0.3)
        self.take("53-passages")
        page.show_view("files")
        page.edit_rules()
        self.settle(0.2)
        self.take("54-duplicates-rules")
        window.findChild(object, "duplicates_rules_sheet").close_sheet()
        page.ask_have((Path.home() / "terms.pdf",))
        self.settle(0.4)
        self.take("54-duplicates-have")
        window.findChild(object, "duplicates_have_sheet").close_sheet()
        page.drop.offer((Path.home() / "terms.pdf",))
        self.take("54-duplicates-drop")
        page.drop.hide()
        commands.hold_duplicates = True
        page.look_again()
        self.settle(0.3)
        self.take("55-duplicates-again")
        commands.let_go()
        commands.hold_duplicates = False
        self.settle(0.4)
        commands.hold_clean_up = True
        page.move_ticked()
        self.settle(0.3)
        self.take("55-duplicates-moving")
        page.foot_bar.cancel.click()
        self.settle(0.6)
        commands.hold_clean_up = False
        commands.refuse = {"Coast": "It changed since it was compared.", "(2)": "The trash refused it: no permission."}
        page.move_ticked()
        self.settle(0.8)
        self.take("56-duplicates-moved")
        window.toast.dismiss()
        page.notice.button.click()
        self.settle(0.4)
        self.take("56-duplicates-history")
        window.findChild(object, "duplicates_history_sheet").close_sheet()
        commands.refuse = {}
        commands.fail["duplicates"] = Failure("library-damaged", "The catalog cannot be read.", "Run the doctor.")
        page.finder.view = None
        page.look()
        self.settle(0.3)
        self.take("57-duplicates-failed")
        commands.fail.clear()
        commands.hold_duplicates = True
        page.look()
        self.settle(0.3)
        self.take("57-duplicates-looking")
        commands.let_go()
        commands.hold_duplicates = False
        self.settle(0.3)

    def take_menu(self, name: str, menu, place) -> None:
        """Saves a picture with a menu painted where it would open."""
        from PySide6.QtGui import QPainter

        menu.aboutToShow.emit()
        menu.ensurePolished()
        menu.resize(menu.sizeHint())
        window = self.window
        original = window.grab

        def grab():
            picture = original()
            painter = QPainter(picture)
            painter.drawPixmap(place, menu.grab())
            painter.end()
            return picture

        window.grab = grab
        self.take(name)
        window.grab = original

    def fake_pictures(self) -> None:
        """Takes those that need canned answers."""
        from sbert_desktop.app.views import UnreadLanguage
        from sbert_desktop.ui.library.adding import add_folders

        window = self.window
        desk = window.desk
        window.show_page("library")
        desk.commands.delay = 0.6
        sheet = add_folders(window, desk, (Path.home() / "Documents",))
        self.settle(0.2)
        self.take("10-add-measuring")
        self.settle(0.8)
        self.take("11-add")
        sheet.close_sheet()
        desk.commands.delay = 0.0
        desk.commands.unread = (UnreadLanguage("de", "German", 4031),)
        add_folders(window, desk, (Path.home() / "Documents", Path.home() / "Archiv"))
        self.settle(0.3)
        self.take("12-add-languages")
        sheet.close_sheet()
        desk.toast("Removed Documents from the library; its files are untouched", action="Undo", run=lambda: None)
        self.settle(0.3)
        self.take("13-toast")
        window.toast.dismiss()
        self.problem_pictures()
        self.kept_pictures()
        self.sheet_pictures()
        self.settings_pictures()

    def problem_pictures(self) -> None:
        """Takes the Problems tab in each of its states."""
        from sbert_desktop.domain import Failure

        window, commands = self.window, self.window.desk.commands
        page = window.page("library")
        window.show_page("library")
        page.tabs.setCurrentIndex(1)
        tab = page.problems
        self.settle(0.4)
        if tab.table.rows_model.rowCount() > 2:
            tab.table.selectRow(1)
            self.take("14-problem-chosen")
            tab.table.selectAll()
            self.take("14-problems-chosen")
            tab.table.selectRow(0)
            tab.detail.recognise.click()
            self.settle(0.3)
            self.take("15-problems-recognise")
            window.toast.dismiss()
            tab.notice.hide()
            tab.reload()
            self.settle(0.4)
            tab.causes.chips[0].click()
            self.settle(0.2)
            self.take("16-problems-cause")
            tab.causes.chips[0].click()
            tab.search.set_text("no such file anywhere")
            self.settle(0.3)
            self.take("16-problems-filtered")
            tab.show_all()
            if tab.show_ignored.isVisible():
                tab.show_ignored.click()
                self.settle(0.2)
                tab.table.scrollToBottom()
                tab.table.selectRow(tab.table.rows_model.rowCount() - 1)
                self.take("16-problems-ignored")
                tab.show_ignored.click()
            tab.table.selectRow(3)
            tab.detail.ignore.click()
            self.settle(0.4)
            self.take("17-problems-undo")
            window.toast.dismiss()
        commands.fail["problems"] = Failure("library-damaged", "The catalog cannot be read.", "Run the doctor.")
        tab.reload()
        self.settle(0.4)
        self.take("18-problems-failed")
        commands.fail.clear()
        commands.delay = 0.8
        tab.stack.setCurrentWidget(tab.loading)
        self.take("18-problems-loading")
        commands.delay = 0.0
        tab.reload()
        self.settle(0.3)

    def kept_pictures(self) -> None:
        """Takes collections, saved searches, models in each state, index health and the quotes."""
        from sbert_desktop.domain import Query
        from sbert_desktop.ui.models.get_sheet import MULTILINGUAL

        window = self.window
        desk = window.desk
        window.show_page("collections")
        self.settle(0.3)
        self.take("30-collections")
        page = window.page("collections")
        if page.table.rows_model.rowCount():
            page._take_out()
            self.settle(0.2)
            self.take("31-collection-undo")
            window.toast.run_action()
            page.show_collection("Empty")
            self.take("31-collection-empty")
            page.ask_rename(page.current())
            self.take("32-collection-rename")
            window.findChild(object, "name_sheet").close_sheet()
            page.show_collection("Deposit")
        from fake_app import documents

        desk.collect(documents()[0].hits)
        self.settle(0.1)
        self.take("33-collect")
        sheet = window.findChild(object, "collect_sheet")
        sheet.edit.setText("Keys")
        self.take("33-collect-new")
        sheet.close_sheet()
        desk.save_search(Query("deposit after:2023-01-01"))
        self.take("34-save-search")
        window.findChild(object, "name_sheet").close_sheet()
        window.show_page("models")
        models = window.page("models")
        models._choose("home-1")
        self.settle(0.2)
        self.take("35-models-chosen")
        desk.get_model(MULTILINGUAL)
        self.settle(0.1)
        self.take("36-model-get")
        window.findChild(object, "get_model_sheet").close_sheet()
        desk.commands.hold_models = True
        models.getting.add(MULTILINGUAL)
        self.settle(0.2)
        self.take("36-model-getting")
        desk.commands.fail_held()
        self.settle(0.3)
        self.take("36-model-failed")
        models.getting.notice.close_button.click()
        window.show_page("library")
        window.page("library").tabs.setCurrentIndex(4)
        self.settle(0.5)
        self.take("37-health-repair")
        desk.check_quotes()
        self.settle(0.1)
        self.take("38-quotes")
        quotes = window.findChild(object, "quotes_sheet")
        quotes.check(Path.home() / "Documents" / "Letter, draft 2.docx")
        self.settle(0.3)
        self.take("38-quotes-found")
        desk.commands.quote_rows = ()
        quotes.check("nothing here")
        self.settle(0.3)
        self.take("38-quotes-none")
        quotes.close_sheet()

    def sheet_pictures(self) -> None:
        """Takes the sheets for passwords, captions and rules."""
        from sbert_desktop.ui.caption import edit_caption
        from sbert_desktop.ui.library.rules import edit_rules
        from sbert_desktop.ui.library.unlock import ask_password

        window, desk = self.window, self.window.desk
        locked = Path.home() / "Documents" / "Bank" / "Bank statement 2021-04.pdf"
        sheet = ask_password(window, desk, locked)
        self.take("20-password")
        sheet.edit.setText("wrong")
        sheet.go.click()
        self.settle(0.3)
        self.take("20-password-wrong")
        sheet.edit.setText(getattr(desk.commands, "password", ""))
        sheet.go.click()
        self.settle(0.3)
        self.take("21-password-text")
        sheet.close_sheet()
        caption = edit_caption(window, desk, Path.home() / "Mail" / "mail-2022-11.mbox",
                               "418 Re: flat, handing over the keys.eml/Floor plan.pdf")
        self.settle(0.3)
        self.take("22-caption")
        caption.close_sheet()
        desk.commands.captions[locked, ""] = "Statement of April 2021: rent, water, the new bicycle."
        caption = edit_caption(window, desk, locked)
        self.settle(0.3)
        self.take("22-caption-there")
        caption.close_sheet()
        if desk.library.folders:
            rules = edit_rules(window, desk, desk.library.folders[0])
            self.settle(0.1)
            self.take("23-rules")
            rules.close_sheet()

    def settings_pictures(self) -> None:
        """Takes the part of Settings that says which programs help with reading."""
        window = self.window
        window.show_page("settings")
        page = window.page("settings")
        self.settle(0.3)
        page.area.ensureWidgetVisible(page.helpers, 0, 200)
        self.take("24-settings-helpers")

    def choose(self, part: str) -> None:
        """Makes the first result current whose file name holds ``part``, and waits for its preview."""
        results = self.window.page("search").page.list
        model = results.model()
        for number in range(model.rowCount() if part else 0):
            document = model.data(model.index(number), model.DocumentRole)
            if document is not None and part in document.path.name:
                results.choose(number)
                results.scrollToTop()
                self.settle(2.0)
                return

    def choose_problem(self, table, part: str) -> None:
        """Chooses the first problem whose name holds ``part``."""
        names = [row.name for row in table.rows_model.rows] if part else []
        at = next((number for number, each in enumerate(names) if part in each), None)
        if at is not None:
            table.selectRow(at)
            table.setFocus()
            self.settle(0.2)

    # ---- plumbing

    def settle(self, seconds: float) -> None:
        """Lets the window work for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.app.processEvents()
            time.sleep(0.005)

    def wait(self, until: Callable[[], bool], seconds: float = 30.0) -> None:
        """Lets the window work until something is so."""
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() > end:
                raise TimeoutError("the window did not come to the state that was waited for")
            self.settle(0.02)

    def take(self, name: str) -> None:
        """Saves one picture."""
        if self.options.only not in name:
            return
        self.settle(0.05)
        file = self.options.out / f"{name}-{self.options.theme}{'@2x' if self.options.scale == 2 else ''}.png"
        if not few_colours(self.window.grab().toImage()).save(str(file), "PNG", 0):  # 0: as small as it gets
            raise OSError(f"{file} could not be written")
        self.taken += 1


def few_colours(picture: QImage) -> QImage:
    """Gives the picture in 256 of its colours: a window is flat, and the file half as large."""
    import numpy as np
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QImage

    plain = picture.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(plain.constBits(), np.uint32).reshape(plain.height(), -1)[:, : plain.width()]
    colours, counts = np.unique(pixels, return_counts=True)
    table = [int(colour) for colour in spread_out(colours[np.argsort(-counts)])]
    flags = Qt.ImageConversionFlag.ThresholdDither | Qt.ImageConversionFlag.AvoidDither
    return plain.convertToFormat(QImage.Format.Format_Indexed8, table, flags)


def spread_out(colours: np.ndarray, most: int = 256, rare: int = 64) -> np.ndarray:
    """Chooses the first (most frequent) colours, then those that are least like any chosen: a small icon keeps its own.

    Args:
        colours: (n,) uint32, 0xAARRGGBB, most frequent first.
        most: How many are chosen at most.
        rare: How many of these are chosen for being unlike the others.
    """
    import numpy as np

    if len(colours) <= most:
        return colours
    parts = np.stack([(colours >> shift) & 0xFF for shift in (16, 8, 0)], axis=1).astype(np.int64)
    chosen = list(range(most - rare))
    far = np.full(len(colours), np.iinfo(np.int64).max)
    for at in chosen:
        far = np.minimum(far, ((parts - parts[at]) ** 2).sum(axis=1))
    for _ in range(rare):
        chosen.append(int(far.argmax()))
        far = np.minimum(far, ((parts - parts[chosen[-1]]) ** 2).sum(axis=1))
    return colours[chosen]


if __name__ == "__main__":
    sys.exit(main())
