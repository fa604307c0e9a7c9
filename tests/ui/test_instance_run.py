from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket

from sbert_desktop.errors import LibraryBusy
from sbert_desktop.settings import Settings
from sbert_desktop.ui import instance
from sbert_desktop.ui.instance import Instance, server_name
from sbert_desktop.ui.run import display_problem, run_window
from tests.ui.fake_app import FakeApp

pytestmark = pytest.mark.gui

ROOT = Path(__file__).resolve().parents[2]


def python(code: str, *, env: dict[str, str] | None = None, timeout: float = 120.0) -> subprocess.CompletedProcess[str]:
    whole = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]), **(env or {})}
    whole = {key: value for key, value in whole.items() if value != "<unset>"}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=whole,
        check=False,
    )


SECOND = """
    import sys, time
    from pathlib import Path
    from sbert_desktop.ui import instance
    instance.CONNECT_MS = instance.ANSWER_MS = 60_000  # the first may be on a machine that stood still
    from sbert_desktop.ui.run import run_window
    def never():
        raise SystemExit("the second start built a program")
    status = run_window(never, Path(sys.argv[1] if len(sys.argv) > 1 else {library!r}))
    print(f"{{time.process_time():.3f}}")
    sys.exit(status)
"""


def test_second_start_brings_the_first_window_to_the_front_and_ends_at_once(qtbot, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    link = tmp_path / "link"
    link.symlink_to(library)
    first = Instance(library)
    assert first.claim() == "first"
    raised: list[float] = []
    first.raised.connect(lambda: raised.append(time.monotonic()))
    answers: list[subprocess.CompletedProcess[str]] = []
    thread = threading.Thread(target=lambda: answers.append(python(SECOND.format(library=str(link)))))
    thread.start()
    qtbot.waitUntil(lambda: bool(answers), timeout=20_000)
    thread.join()
    assert answers[0].returncode == 0, answers[0].stderr
    assert float(answers[0].stdout) < 3.0  # seconds of CPU, some 0.2: no page, no library
    assert instance.CONNECT_MS + instance.ANSWER_MS < 1000
    assert len(raised) == 1
    first.close()


def test_two_whole_starts_meet(tmp_path: Path) -> None:
    library = str(tmp_path / "library")
    first = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from pathlib import Path
        from sbert_desktop.settings import Settings
        from sbert_desktop.ui import main_window
        from sbert_desktop.ui.run import run_window
        from tests.ui.fake_app import FakeApp

        class Told(main_window.MainWindow):
            def bring_to_front(self):
                super().bring_to_front()
                print("raised", self.isVisible(), flush=True)
                self.close()

        main_window.MainWindow = Told
        program = FakeApp(Settings(Path({str(tmp_path / "s.toml")!r})))
        status = run_window(lambda: program, Path({library!r}), screenshot=None)
        print("ended", status, program.closed, flush=True)
    """
    env = {**os.environ, "SBERT_DESKTOP_HOME": str(tmp_path / "home")}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(first)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    ) as process:
        name = Path(tempfile.gettempdir()) / server_name(tmp_path / "library")
        end = time.monotonic() + 60
        while not name.exists() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.02)
        second = python(SECOND.format(library=library))
        out, err = process.communicate(timeout=60)
    assert second.returncode == 0, second.stderr
    assert out.split("\n")[:2] == ["raised True", "ended 0 True"], err
    assert "Traceback" not in err
    assert "QSocketNotifier" not in err  # the server was made while Qt runs


def test_other_libraries_have_windows_of_their_own(qtbot, tmp_path: Path) -> None:
    assert server_name(tmp_path / "a") != server_name(tmp_path / "b")
    one, two = Instance(tmp_path / "a"), Instance(tmp_path / "b")
    assert one.claim() == "first"
    assert two.claim() == "first"
    one.close()
    two.close()


def test_a_name_left_by_a_killed_process_is_taken_over(qtbot, tmp_path: Path) -> None:
    code = f"""
        import os
        from pathlib import Path
        from PySide6.QtCore import QCoreApplication
        app = QCoreApplication([])
        from sbert_desktop.ui.instance import Instance
        instance = Instance(Path({str(tmp_path)!r}))
        print(instance.claim(), flush=True)
        os.kill(os.getpid(), 9)
    """
    assert python(code).stdout.strip() == "first"
    instance = Instance(tmp_path)
    assert instance.claim() == "first"
    instance.close()


def test_a_window_that_hangs_is_named_within_a_second(qtbot, tmp_path: Path, capsys, monkeypatch) -> None:
    first = Instance(tmp_path)
    assert first.claim() == "first"
    answers: list[str] = []
    second = Instance(tmp_path)
    asked: list[int] = []

    class Socket(QLocalSocket):
        def waitForReadyRead(self, msecs: int = 0) -> bool:
            asked.append(msecs)
            return super().waitForReadyRead(msecs)

    monkeypatch.setattr(instance, "QLocalSocket", Socket)
    answers.append(second.claim())  # the first one's event loop does not run meanwhile
    assert answers == ["no-answer"]
    assert asked == [instance.ANSWER_MS]
    assert instance.CONNECT_MS + instance.ANSWER_MS < 1000
    assert run_window(lambda: None, tmp_path) == 1  # type: ignore[arg-type,return-value]
    assert "does not answer" in capsys.readouterr().err
    first.close()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="only Linux starts without a display")
def test_without_a_display_one_plain_line_and_status_1(tmp_path: Path) -> None:
    unset = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"), "<unset>")
    done = python(SECOND.format(library=str(tmp_path)), env=unset)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "there is no display here" in done.stderr
    assert "Traceback" not in done.stderr


def test_display_is_asked_before_qt(monkeypatch) -> None:
    for key in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert display_problem()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert display_problem() == ""


def test_window_runs_from_first_paint_to_a_clean_end(qtbot, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))
    settings = Settings(tmp_path / "settings.toml")
    program = FakeApp(settings)
    seen: list[object] = []

    def factory() -> FakeApp:
        seen.append(threading.current_thread())
        return program

    status = run_window(
        factory, tmp_path / "library", screenshot=lambda window: seen.append(window.desk.library.documents)
    )
    assert status == 0
    assert seen[0] is not threading.main_thread()
    assert seen[1] == 8800
    assert program.closed
    assert (tmp_path / "home" / "state" / "window.json").exists()


def test_failed_start_is_shown_and_can_be_tried_again(qtbot, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))
    tries: list[int] = []

    def factory() -> FakeApp:
        tries.append(1)
        if len(tries) == 1:
            raise LibraryBusy("library-busy", "Another program holds this library.", "Close it first.")
        return FakeApp(Settings(tmp_path / "settings.toml"))

    shown: list[str] = []
    from sbert_desktop.ui.main_window import MainWindow

    show = MainWindow.show_opening_failure

    def show_and_retry(self, failure) -> None:
        show(self, failure)
        shown.append(failure.message)
        self._on_retry()

    monkeypatch.setattr(MainWindow, "show_opening_failure", show_and_retry)
    assert run_window(factory, tmp_path / "library", screenshot=lambda window: None) == 0
    assert shown == ["Another program holds this library."]
    assert len(tries) == 2


def test_window_is_visible_within_a_second_of_cpu_and_loads_nothing_heavy(tmp_path: Path) -> None:
    code = f"""
        import os, sys, time
        os.environ["SBERT_DESKTOP_HOME"] = {str(tmp_path)!r}
        from pathlib import Path
        from sbert_desktop.ui import main_window
        from sbert_desktop.ui.run import run_window
        from PySide6.QtWidgets import QApplication
        import threading
        def factory():
            raise SystemExit(0)
        class Painted(main_window.MainWindow):
            def paintEvent(self, event):
                super().paintEvent(event)
                heavy = [name for name in ("numpy", "torch", "transformers", "openvino", "sklearn", "umap", "sqlite3",
                                           "sentence_transformers", "pypdfium2", "lxml") if name in sys.modules]
                print(f"{{time.process_time():.3f}}", ",".join(heavy), flush=True)
                os._exit(0)
        main_window.MainWindow = Painted
        run_window(factory, Path({str(tmp_path / "library")!r}))
    """
    best = 9.9
    heavy = ""
    for _ in range(2):  # the first one may have to read Qt from a cold disk
        done = python(code)
        assert done.returncode == 0, done.stderr
        cpu, _, heavy = done.stdout.strip().partition(" ")
        best = min(best, float(cpu))
    print(f"window painted after {best:.2f} s of CPU")
    assert best < 1.0
    assert not set(heavy.split(",")) & {"torch", "transformers", "openvino", "sklearn", "umap", "sentence_transformers"}
