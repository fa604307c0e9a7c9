"""Helpers of the extraction tests: makers of small files, tokenizers, and a real child process."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sbert_desktop.domain import SourceFile
from sbert_desktop.errors import Cancelled, JobError
from sbert_desktop.extraction.child import make_handler
from sbert_desktop.wire import WireError, read_frame, write_frame

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
REPO = Path(__file__).resolve().parents[2]


@pytest.fixture
def shared_data() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the shared data are not here")
    return SHARED


class WordTokenizer:
    """Words and single signs are tokens; every ideogram is one, as in BERT."""

    key = "words"

    def __init__(self) -> None:
        self.calls: list[int] = []

    def offsets(self, text: str) -> NDArray[np.int32]:
        self.calls.append(len(text))
        found = [match.span() for match in re.finditer(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+|[^\w\s]", text)]
        return np.asarray(found, dtype=np.int32).reshape(-1, 2)


@pytest.fixture
def words() -> WordTokenizer:
    return WordTokenizer()


def source(path: Path) -> SourceFile:
    status = path.stat()
    return SourceFile(path, status.st_size, status.st_mtime_ns)


class Context:
    """A job's context that can be cancelled after a number of checks."""

    def __init__(self, cancel_after: int | None = None) -> None:
        self.left = cancel_after

    @property
    def paused(self) -> bool:
        return False

    def check(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Cancelled

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None: ...

    def partial(self, result: object) -> None: ...


class NearChild:
    """The handler in this very process: quick, and with a memory of what it was asked."""

    def __init__(self, log: list[Mapping[str, object]] | None = None) -> None:
        self._handler = make_handler(limits=False)
        self.log = [] if log is None else log
        self.closed = False

    def request(self, header: Mapping[str, object], payload: bytes = b"", *,
                timeout: float | None = None) -> tuple[dict[str, object], bytes]:
        assert not self.closed
        self.log.append(header)
        reply, data = self._handler(dict(header), payload)
        return dict(reply), data

    def close(self) -> None:
        self.closed = True


class ScriptChild:
    """A real child that runs ``misbehaving_child.py``: hangs, crashes or eats memory by file name."""

    started = 0
    stderr = subprocess.DEVNULL

    def __init__(self, memory_mb: int = 2048) -> None:
        type(self).started += 1
        self._lock = threading.Lock()
        self._expired = threading.Event()
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("misbehaving_child.py")), str(memory_mb)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, cwd=REPO)

    def request(self, header: Mapping[str, object], payload: bytes = b"", *,
                timeout: float | None = None) -> tuple[dict[str, object], bytes]:
        timer = threading.Timer(timeout or 60.0, self.expire)
        timer.start()
        try:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            write_frame(self.process.stdin, header, payload)
            return read_frame(self.process.stdout)
        except (WireError, OSError, ValueError) as error:
            raise JobError("child-timeout" if self.expired else "child-died", "gone") from error
        finally:
            timer.cancel()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def expired(self) -> bool:
        """True once its time was up."""
        return self._expired.is_set()

    def expire(self) -> None:
        """Ends it as one whose time is up."""
        self._expired.set()
        self.process.kill()

    def kill(self) -> None:
        self.process.kill()

    def close(self) -> None:
        with self._lock:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None and not stream.closed:
                    try:
                        stream.close()
                    except OSError:
                        pass


class EagerChild(ScriptChild):
    """One whose time is up as soon as it says that it hangs, and no sooner, however long a busy machine takes."""

    stderr = subprocess.PIPE

    def __init__(self, memory_mb: int = 2048) -> None:
        super().__init__(memory_mb)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def request(self, header: Mapping[str, object], payload: bytes = b"", *,
                timeout: float | None = None) -> tuple[dict[str, object], bytes]:
        return super().request(header, payload, timeout=100.0)

    def close(self) -> None:
        super().close()
        self._listener.join()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            for line in stream:
                if line == b"hangs\n":
                    self.expire()


# ---------------------------------------------------------------- makers


def make_pdf(pages: list[list[tuple[float, float, float, str]]], *, bold: str = "", title: str = "",
             rotate: int = 0, size: tuple[int, int] = (612, 792)) -> bytes:
    """Makes a PDF. A page is a list of (x, y, size, text); text that begins with ``bold`` is bold."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>"
    objects: list[bytes] = [b"", b"", font % b"Helvetica", font % b"Helvetica-Bold"]
    kids = []
    for page in pages:
        stream = b"BT\n" + b"".join(
            b"/%s %g Tf 1 0 0 1 %g %g Tm (%s) Tj\n" % (
                b"F2" if bold and text.startswith(bold) else b"F1", points, x, y,
                text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)"))
            for x, y, points, text in page) + b"ET\n"
        objects.append(b"<< /Length %d >>\nstream\n%sendstream" % (len(stream), stream))
        objects.append(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Rotate %d /Contents %d 0 R "
                       b"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>" % (*size, rotate, len(objects)))
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    objects.append(b"<< /Title (%s) /CreationDate (D:20200102030405Z) >>" % title.encode("cp1252"))
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
              % (len(objects) + 1, len(objects), start))
    return out.getvalue()


WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STYLES = f"""<w:styles {WORD}>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="berschrift2"/></w:style>
</w:styles>"""


def make_docx(body: str, **parts: str) -> bytes:
    """Makes a docx; ``parts`` are further parts by name, slashes as double underscores."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", f"<w:document {WORD}><w:body>{body}</w:body></w:document>")
        archive.writestr("word/styles.xml", parts.pop("word__styles", STYLES))
        for name, text in parts.items():
            archive.writestr(name.replace("__", "/") + ".xml", text)
    return out.getvalue()


def paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"
