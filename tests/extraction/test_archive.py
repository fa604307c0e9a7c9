"""Archives and other files with members: what they give, in which order, and where they are stopped."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import random
import struct
import tarfile
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText, Listing, Problem
from sbert_desktop.extraction import ExtractionPool, _budget, _paging
from sbert_desktop.extraction._series import clean_name
from tests.extraction.conftest import (
    Context,
    EagerChild,
    NearChild,
    ScriptChild,
    make_docx,
    make_pdf,
    paragraph,
    source,
)

Found = dict[str, ExtractedText | Problem | Listing | None]
NOISE = random.Random(7)


@pytest.fixture(autouse=True)
def _same_noise() -> None:
    """Each test has the noise that it would have alone."""
    NOISE.seed(7)


def zipped(members: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(members: dict[str, bytes], mode: str = "w") -> bytes:
    out = io.BytesIO()
    small_blocks = {"compresslevel": 1} if mode == "w:bz2" else {}
    with tarfile.open(fileobj=out, mode=mode, **small_blocks) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1_000_000_000
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def sevened(members: dict[str, bytes], password: str | None = None) -> bytes:
    import py7zr

    out = io.BytesIO()
    with py7zr.SevenZipFile(out, "w", password=password) as archive:
        for name, data in members.items():
            archive.writestr(data, name)
    return out.getvalue()


def read(path: Path, **more: object) -> Found:
    """Reads one file through a pool in this process; the listing stands under ``""``."""
    pool = ExtractionPool(NearChild, 1, **more)  # type: ignore[arg-type]
    results = list(pool.results([source(path)], Context()))
    pool.close()
    names = [file.member for file, _ in results]
    assert len(set(names)) == len(names)
    assert names[-1] == ""
    return dict(zip(names, (outcome for _, outcome in results), strict=True))


def made(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def text_of(found: Found, member: str) -> str:
    outcome = found[member]
    assert isinstance(outcome, ExtractedText), outcome
    return outcome.text


def code_of(outcome: object) -> str:
    assert isinstance(outcome, Problem), outcome
    return outcome.code


def codes(found: Found) -> list[str]:
    listing = found[""]
    assert isinstance(listing, Listing), listing
    assert listing.members == len(found) - 1
    assert all(entry.partial and entry.message for entry in listing.problems)
    return [entry.code for entry in listing.problems]


INNER = zipped({"doc.txt": "words of the inner document", "notes/day.md": "# Day\n\nwhat happened"})
THREE = {"a.txt": b"first words", "sub/b.docx": make_docx(paragraph("second words")), "inner.zip": INNER}
KINDS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "x.zip": lambda members: zipped(dict(members)),
    "x.tar": tarred,
    "x.tar.gz": lambda members: tarred(members, "w:gz"),
    "x.tgz": lambda members: tarred(members, "w:gz"),
    "x.tar.bz2": lambda members: tarred(members, "w:bz2"),
    "x.tar.xz": lambda members: tarred(members, "w:xz"),
    "x.7z": sevened,
}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_archive_gives_its_members_and_those_of_archives_inside(name: str, tmp_path: Path) -> None:
    found = read(made(tmp_path, name, KINDS[name](THREE)))
    assert list(found) == ["a.txt", "sub/b.docx", "inner.zip/doc.txt", "inner.zip/notes/day.md", ""]
    assert text_of(found, "a.txt") == "first words"
    assert "second words" in text_of(found, "sub/b.docx")
    assert text_of(found, "inner.zip/doc.txt") == "words of the inner document"
    assert codes(found) == []


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_archive_gives_what_can_be_read_and_says_so(name: str, tmp_path: Path) -> None:
    members = {f"{number}.txt": NOISE.randbytes(30_000).hex().encode() for number in range(8)}
    data = KINDS[name](members)
    found = read(made(tmp_path, name, data[: len(data) * 3 // 4]))
    if name == "x.7z":  # its table of contents stands at the end
        assert code_of(found[""]) == "damaged"
        return
    assert codes(found) == ["damaged"]
    good = [member for member, outcome in found.items() if isinstance(outcome, ExtractedText)]
    assert good
    for member in good:
        assert text_of(found, member).encode() == members[member]


@pytest.mark.parametrize(("name", "pack"), [("note.txt.gz", gzip.compress), ("note.txt.bz2", bz2.compress),
                                            ("note.txt.xz", lzma.compress)])
def test_a_compressed_file_gives_the_one_inside(name: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    found = read(made(tmp_path, name, pack(b"a note that was packed")))
    assert text_of(found, "note.txt") == "a note that was packed"
    assert list(found) == ["note.txt", ""]


def test_members_carry_hash_size_and_time_of_their_own(tmp_path: Path) -> None:
    path = made(tmp_path, "x.tar", tarred({"a.txt": b"first words"}))
    pool = ExtractionPool(NearChild, 1)
    (member, _), (whole, _) = pool.results([source(path)], Context())
    pool.close()
    assert (member.content_hash, member.size) == (hashlib.sha256(b"first words").hexdigest(), 11)
    assert member.mtime_ns == 1_000_000_000 * 10**9
    assert (whole.content_hash, whole.size) == (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)
    assert whole.mtime_ns == path.stat().st_mtime_ns


def test_a_member_that_cannot_be_read_is_listed_and_the_rest_goes_on(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.txt": b"x" * 1000, "b.txt": NOISE.randbytes(500).hex(), "c.txt": "last words"}))
    at = data.index(b"b.txt") + 60
    data[at : at + 20] = bytes(20)
    found = read(made(tmp_path, "x.zip", bytes(data)))
    assert code_of(found["b.txt"]) == "damaged"
    assert text_of(found, "c.txt") == "last words"
    assert codes(found) == []


def test_what_systems_leave_in_archives_and_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    members = {"__MACOSX/._a.txt": b"x", ".DS_Store": b"x", "d/": b"", "a.txt": b"a"}
    found = read(made(tmp_path, "x.zip", zipped(dict(members))))
    assert list(found) == ["a.txt", ""]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            info = tarfile.TarInfo(f"odd{kind!r}")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("a.txt")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"words"))
    assert list(read(made(tmp_path, "x.tar", out.getvalue()))) == ["a.txt", ""]


# ---------------------------------------------------------------- R12: bombs


def test_of_more_members_than_the_limit_the_first_are_read(tmp_path: Path) -> None:
    began = time.process_time()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number}.bin", b"\0")
    built = time.process_time()
    found = read(made(tmp_path, "x.zip", out.getvalue()))
    assert codes(found) == ["archive-limit"]
    assert len(found) == 2001
    assert time.process_time() - built < 10 + (built - began)


@pytest.mark.parametrize("kind", ["zip", "gz", "tar.gz", "tar.xz", "7z"])
def test_the_ratio_is_counted_while_unpacking(kind: str, tmp_path: Path) -> None:
    zeros = bytes(40 * 1024 * 1024)
    data = {"zip": lambda: zipped({"a.txt": "good words", "bomb.txt": zeros, "b.txt": "late words"}),
            "gz": lambda: gzip.compress(zeros),
            "tar.gz": lambda: tarred({"a.txt": b"good words", "b.txt": zeros}, "w:gz"),
            "tar.xz": lambda: tarred({"a.txt": b"good words", "b.txt": zeros}, "w:xz"),
            "7z": lambda: sevened({"a.txt": b"good words", "b.txt": zeros})}[kind]()
    found = read(made(tmp_path, f"x.{kind}", data))
    if kind == "gz":
        listing = found[""]
        assert isinstance(listing, Listing)
        assert [entry.code for entry in listing.problems] == ["archive-limit"]
        return
    assert codes(found) == ["archive-limit"]
    assert text_of(found, "a.txt") == "good words"
    assert len(found) == 2


def test_a_header_that_lies_about_the_size_does_not_get_past_the_limit(tmp_path: Path) -> None:
    data = bytearray(zipped({"bomb.txt": bytes(30 * 1024 * 1024)}))
    size = struct.pack("<I", 30 * 1024 * 1024)
    while size in data:
        at = data.index(size)
        data[at : at + 4] = struct.pack("<I", 100)
    found = read(made(tmp_path, "x.zip", bytes(data)))
    assert not any(isinstance(outcome, ExtractedText) for outcome in found.values())


def test_the_total_is_counted_over_all_levels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_budget, "ARCHIVE_BYTES", 1_000_000)
    inner = zipped({f"{number}.txt": NOISE.randbytes(100_000).hex() for number in range(3)})
    found = read(made(tmp_path, "x.zip", zipped({"1.zip": inner, "2.zip": inner, "3.zip": inner}, zipfile.ZIP_STORED)))
    read_members = [name for name, outcome in found.items() if isinstance(outcome, ExtractedText)]
    assert read_members == ["1.zip/0.txt", "1.zip/1.txt", "1.zip/2.txt"]
    listing = found[""]
    assert isinstance(listing, Listing)
    assert "archive-limit" in [entry.code for entry in listing.problems] or code_of(found["2.zip"]) == "archive-limit"


def test_archives_are_opened_two_deep(tmp_path: Path) -> None:
    deep = zipped({"deep.txt": "too deep"})
    found = read(made(tmp_path, "x.zip", zipped({"mid.zip": zipped({"deep.zip": deep, "mid.txt": "deep enough"})})))
    assert code_of(found["mid.zip/deep.zip"]) == "archive-limit"
    assert text_of(found, "mid.zip/mid.txt") == "deep enough"
    assert codes(found) == []


def test_a_bomb_of_bombs_ends_soon(tmp_path: Path) -> None:
    core = zipped({"0.txt": bytes(20_000_000)})
    for _ in range(4):
        core = zipped({f"{number}.zip": core for number in range(16)})
    began = time.process_time()
    found = read(made(tmp_path, "42.zip", core))
    assert time.process_time() - began < 10
    assert not any(isinstance(outcome, ExtractedText) for outcome in found.values())
    assert {code_of(outcome) for name, outcome in found.items() if name} == {"archive-limit"}


@pytest.mark.slow
def test_an_archive_of_200000_files_ends_within_its_limits(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(200_000):
            archive.writestr(f"{number}.txt", b"x")
    path = made(tmp_path, "x.zip", out.getvalue())
    pool = ExtractionPool(ScriptChild, 1, time_limit=60)
    results = list(pool.results([source(path)], Context()))
    pool.close()
    assert len(results) == 2001


# ---------------------------------------------------------------- R13: names

HOSTILE = ["../../../etc/cron.d/evil.txt", "/etc/passwd.txt", "C:\\Windows\\evil.txt", "..\\..\\evil2.txt", "CON.txt",
           "nul", "a" * 300 + ".txt", "a/../../b/../../../c.txt", "line\nbreak.txt", "./x.txt", "//server/share/x2.txt",
           "tab\tname.txt", "\u202eexe.txt", "..", "a//b///c2.txt", "~/.ssh/authorized_keys.txt", "-rf.txt", " .txt"]


@pytest.mark.parametrize("kind", ["zip", "tar", "7z"])
def test_hostile_names_are_shown_and_never_written(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "deep" / "inside" / "here"
    folder.mkdir(parents=True)
    members = {name: f"words {number}".encode() for number, name in enumerate(HOSTILE)}
    monkeypatch.setattr("py7zr.py7zr.check_archive_path", lambda name: True)
    data = KINDS[f"x.{kind}"](members)
    path = made(folder, f"x.{kind}", data)
    monkeypatch.chdir(folder)
    before = sorted(tmp_path.rglob("*"))
    found = read(path)
    assert sorted(tmp_path.rglob("*")) == before
    texts = [outcome.text for outcome in found.values() if isinstance(outcome, ExtractedText)]
    assert sorted(texts) == sorted(f"words {number}" for number in range(len(HOSTILE)))
    for name in filter(None, found):
        assert not name.startswith(("/", "../"))
        assert "/../" not in name
        assert "\n" not in name
        assert "\\" not in name


def test_names_with_nul_bytes_and_surrogates_can_be_stored() -> None:
    assert clean_name("a\0b\udc80.txt") == "a\ufffdb\ufffd.txt"
    assert clean_name("../..") == "unnamed"
    assert len(clean_name("x" * 5000)) == 1000


def test_equal_names_are_told_apart(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(3):
            archive.writestr("same.txt", f"words {number}")
    found = read(made(tmp_path, "x.zip", out.getvalue()))
    assert [text_of(found, name) for name in ("same.txt", "same (2).txt", "same (3).txt")] == [
        "words 0", "words 1", "words 2"]


@pytest.mark.parametrize(("encoding", "names"), [
    ("utf-8", ["Übersicht.txt", "Größe.txt"]),
    ("cp850", ["Übersicht der Größen.txt", "Änderungen für später.txt", "Mädchen und Bücher.txt"]),
    ("cp866", ["Отчёт за первый квартал.txt", "Письмо директору школы.txt", "Список литературы.txt"]),
    ("cp932", ["会議の議事録について.txt", "新しい計画のまとめ.txt", "ありがとうございました.txt"]),
])
def test_names_of_old_zips_are_told_by_all_of_them(encoding: str, names: list[str], tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            archive.writestr(info, "words")
    data = out.getvalue()
    for name in names:
        raw, old = name.encode("utf-8"), name.encode(encoding)
        data = renamed(data, raw, old)
    assert list(read(made(tmp_path, "x.zip", data))) == [*names, ""]


def renamed(data: bytes, raw: bytes, old: bytes) -> bytes:
    """Puts a name in an old encoding in place of the UTF-8 one and takes the mark of UTF-8 away."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = [(info.orig_filename, archive.read(info), bool(info.flag_bits & 0x800)) for info in archive.infolist()]
    out, table = io.BytesIO(), io.BytesIO()
    for name, content, marked in infos:
        stored = old if name.encode() == raw or name.encode("cp437", "ignore") == raw else (
            name.encode() if marked else name.encode("cp437"))
        flags = 0x800 if marked and stored != old else 0
        common = struct.pack("<HHHHHIIIHH", 20, flags, 0, 0, 33, zlib.crc32(content), len(content), len(content),
                             len(stored), 0)
        table.write(b"PK\x01\x02" + struct.pack("<H", 20) + common)
        table.write(struct.pack("<HHHII", 0, 0, 0, 0, out.tell()) + stored)
        out.write(b"PK\x03\x04" + common + stored + content)
    start = out.tell()
    out.write(table.getvalue())
    out.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(infos), len(infos), len(table.getvalue()), start, 0))
    return out.getvalue()


# ---------------------------------------------------------------- passwords


def test_members_with_a_password_are_listed_and_read_with_it(tmp_path: Path) -> None:
    path = made(tmp_path, "x.zip", zip_crypto("secret.txt", b"hidden words", b"pw", zipped({"open.txt": "open words"})))
    found = read(path)
    assert code_of(found["secret.txt"]) == "encrypted"
    found = read(path, password="pw")
    assert text_of(found, "secret.txt") == "hidden words"
    assert code_of(read(path, password="wrong")["secret.txt"]) in {"encrypted", "damaged"}


def test_a_7z_with_a_password_is_read_with_it(tmp_path: Path) -> None:
    path = made(tmp_path, "x.7z", sevened({"secret.txt": b"hidden words"}, password="pw"))
    assert code_of(read(path)[""]) == "encrypted"
    assert text_of(read(path, password="pw"), "secret.txt") == "hidden words"
    assert code_of(read(path, password="wrong")[""]) == "encrypted"


def zip_crypto(name: str, data: bytes, password: bytes, _other: bytes) -> bytes:
    """Makes a zip with one member in PKWARE's old encryption, which the standard library only reads."""
    table = [0] * 256
    for number in range(256):
        value = number
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
        table[number] = value
    keys = [0x12345678, 0x23456789, 0x34567890]

    def update(byte: int) -> None:
        keys[0] = (keys[0] >> 8) ^ table[(keys[0] ^ byte) & 0xFF]
        keys[1] = ((keys[1] + (keys[0] & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = (keys[2] >> 8) ^ table[(keys[2] ^ (keys[1] >> 24)) & 0xFF]

    for byte in password:
        update(byte)
    crc = zlib.crc32(data)
    packed = bytearray()
    for byte in bytes(11) + bytes([crc >> 24]) + data:
        mixed = (keys[2] | 2) & 0xFFFF
        packed.append(byte ^ (((mixed * (mixed ^ 1)) >> 8) & 0xFF))
        update(byte)
    raw = name.encode()
    common = struct.pack("<HHHHHIIIHH", 20, 1, 0, 0, 33, crc, len(packed), len(data), len(raw), 0)
    local = b"PK\x03\x04" + common + raw + bytes(packed)
    entry = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + raw
    return local + entry + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)


# ---------------------------------------------------------------- one member only


def test_one_member_is_read_without_the_others(tmp_path: Path) -> None:
    pdf = make_pdf([[(72, 700, 12, "hello inside")]])
    path = made(tmp_path, "x.zip", zipped({"inner.zip": zipped({"a.pdf": pdf}), "b.txt": "other words"}))
    child = NearChild()

    def ask(**header: object) -> tuple[dict[str, object], bytes]:
        return child.request({"path": os.fsencode(path).hex(), "files": [os.fsencode(path).hex()], **header})

    reply, payload = ask(op="extract", member="inner.zip/a.pdf")
    (entry,) = reply["results"]  # type: ignore[misc]
    assert b"hello inside" in payload
    assert entry["sha256"] == hashlib.sha256(pdf).hexdigest()
    assert entry["member"] == "inner.zip/a.pdf"
    picture, _ = ask(op="render", member="inner.zip/a.pdf", page=1, width=100, ranges=[])
    assert picture["width"] == 100
    reply, _ = ask(op="extract", member="gone.txt")
    (entry,) = reply["results"]  # type: ignore[misc]
    assert entry["problem"]["code"] == "unreadable"
    reply, _ = ask(op="extract", member="b.txt/part 2")
    (entry,) = reply["results"]  # type: ignore[misc]
    assert entry["problem"]["code"] == "unreadable"


# ---------------------------------------------------------------- members that end their child


def test_a_member_that_kills_its_child_costs_itself_only(tmp_path: Path) -> None:
    members = {f"{number:02}.txt": f"words {number}".encode() for number in range(12)}
    members["05 crash.txt"] = b"x"
    order = {name: members[name] for name in sorted(members)}
    order = {name.replace("05 crash", "crash"): data for name, data in order.items()}
    path = made(tmp_path, "x.tar.gz", KINDS["x.tar.gz"](order))
    launched: list[ScriptChild] = []

    def launch() -> ScriptChild:
        launched.append(ScriptChild())
        return launched[-1]

    pool = ExtractionPool(launch, 1, time_limit=20.0)
    results = list(pool.results([source(path)], Context()))
    pool.close()
    assert [file.member for file, _ in results] == [*order, ""]
    found = {file.member: outcome for file, outcome in results}
    assert code_of(found["crash.txt"]) == "crashed-parser"
    assert codes(found) == []
    assert [text_of(found, name) for name in members if "crash" not in name] == [
        f"words {number}" for number in range(12)]
    assert len(launched) == 3


def test_members_that_hang_or_eat_memory_say_so_also_inside_archives_inside(tmp_path: Path) -> None:
    inner = zipped({"a.txt": "inner words", "hang.txt": "x", "b.txt": "more inner words"})
    path = made(tmp_path, "x.zip", zipped({"1.txt": "one", "inner.zip": inner, "eat.txt": "x", "2.txt": "two"}))
    pool = ExtractionPool(EagerChild, 1)
    found = {file.member: outcome for file, outcome in pool.results([source(path)], Context())}
    pool.close()
    assert list(found) == ["1.txt", "inner.zip/a.txt", "inner.zip/hang.txt", "inner.zip/b.txt", "eat.txt", "2.txt", ""]
    assert code_of(found["inner.zip/hang.txt"]) == "timed-out"
    assert code_of(found["eat.txt"]) == "too-much-memory"
    assert text_of(found, "inner.zip/b.txt") == "more inner words"
    assert codes(found) == []


def test_an_archive_of_killers_is_given_up_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_paging, "SERIES_DEATHS", 2)
    killers = {f"crash{number}.txt": "x" for number in range(5)}
    path = made(tmp_path, "x.zip", zipped({"a.txt": "good words", **killers}))
    pool = ExtractionPool(ScriptChild, 1, time_limit=20.0)
    found = {file.member: outcome for file, outcome in pool.results([source(path)], Context())}
    pool.close()
    assert text_of(found, "a.txt") == "good words"
    assert codes(found) == ["crashed-parser"]
    assert len(found) == 4


def test_pages_of_a_long_archive_come_in_order_and_count_up(tmp_path: Path) -> None:
    members = {f"{number:04}.txt": f"words {number}".encode() for number in range(450)}
    log: list[dict[str, object]] = []
    pool = ExtractionPool(lambda: NearChild(log), 1)  # type: ignore[arg-type]
    path = made(tmp_path, "x.tar.gz", tarred(members, "w:gz"))
    results = list(pool.results([source(path)], Context()))
    pool.close()
    assert [file.member for file, _ in results] == [*members, ""]
    listing = results[-1][1]
    assert isinstance(listing, Listing)
    assert listing.members == 450
    assert [header["op"] for header in log if header["op"] != "ping"] == ["extract", *["page"] * 3]


def test_known_members_are_not_given_again(tmp_path: Path) -> None:
    path = made(tmp_path, "x.zip", zipped({"a.txt": "known words", "b.txt": "new words"}))
    known = {hashlib.sha256(b"known words").hexdigest()}
    found = read(path, known=known.__contains__)
    assert found["a.txt"] is None
    assert text_of(found, "b.txt") == "new words"


def test_a_large_mail_or_archive_with_a_known_content_still_gives_its_members(tmp_path: Path) -> None:
    data = zipped({"a.txt": NOISE.randbytes(300_000).hex()})
    path = made(tmp_path, "suffixless", data)
    found = read(path, known={hashlib.sha256(data).hexdigest()}.__contains__)
    assert list(found) == ["a.txt", ""]


def test_an_archive_in_a_batch_that_fits_a_page_travels_with_the_others(tmp_path: Path) -> None:
    small = made(tmp_path, "suffixless", zipped({"a.txt": "member words"}))
    plain = made(tmp_path, "plain.txt", b"plain words")
    pool = ExtractionPool(NearChild, 1)
    found = {(file.path.name, file.member): outcome
             for file, outcome in pool.results([source(small), source(plain)], Context())}
    pool.close()
    assert set(found) == {("suffixless", "a.txt"), ("suffixless", ""), ("plain.txt", "")}


def test_a_whole_archive_is_no_document(tmp_path: Path) -> None:
    from sbert_desktop.errors import ExtractionError
    from sbert_desktop.extraction import extract

    with pytest.raises(ExtractionError, match="only holds other files"):
        extract(made(tmp_path, "x.zip", zipped({"a.txt": "words"})))


@pytest.mark.parametrize("name", KINDS)
def test_mutated_archives_end_in_results_whatever_was_done_to_them(name: str, tmp_path: Path) -> None:
    """R2 for containers: flips, cuts, repeats and splices; each file ends with one last result."""
    random_ = random.Random(11)
    whole = KINDS[name]({**THREE, "big.txt": b"some words that repeat " * 2000})
    other = KINDS[name]({"other.txt": b"words of the other archive"})
    paths = []
    for number in range(25):
        data = bytearray(whole)
        for _ in range(random_.randint(1, 8)):
            at = random_.randrange(len(data))
            match random_.randrange(4):
                case 0:
                    data[at] ^= 1 << random_.randrange(8)
                case 1:
                    del data[at : at + random_.randrange(1, 200)]
                case 2:
                    data[at:at] = data[at : at + random_.randrange(1, 200)]
                case _:
                    data[at : at + 50] = other[: random_.randrange(1, 50)]
            data = data or bytearray(b"x")
        paths.append(made(tmp_path, f"{number}{name}", bytes(data)))
    pool = ExtractionPool(NearChild, 1)
    results = list(pool.results([source(path) for path in paths], Context()))
    pool.close()
    last = [file.path for file, outcome in results if not file.member]
    assert sorted(last) == sorted(paths)
    assert not [outcome for _, outcome in results if isinstance(outcome, Problem) and outcome.code == "internal"]


def test_names_carry_no_signs_that_break_or_turn_a_line() -> None:
    shown = clean_name("a\x85b\u2028c/cod\u202egpj.exe")
    assert shown == "a\ufffdb\ufffdc/cod\ufffdgpj.exe"
    assert clean_name(shown) == shown
    assert clean_name("\u05d0\u200f.txt") == "\u05d0\u200f.txt"  # a mark that names in Hebrew may need


# ---------------------------------------------------------------- zstd, rar, AES


@pytest.mark.parametrize("name", ["a.tar.zst", "a.tzst", "a.txt.zst"])
def test_zstd_is_read_and_its_damage_said(name: str, tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    words = "".join(f"words {number} of a text\n" for number in range(3000))
    plain = words.encode() if name == "a.txt.zst" else tarred({"in/a.txt": words.encode(), "b.txt": b"more words"})
    path = made(tmp_path, name, zstd.compress(plain))
    found = read(path)
    assert list(found) == (["a.txt", ""] if name == "a.txt.zst" else ["in/a.txt", "b.txt", ""])
    assert "words 2999" in text_of(found, next(iter(found)))
    path.write_bytes(zstd.compress(plain)[:-200])
    found = read(path)
    listing = found[""]
    problems = listing.problems if isinstance(listing, Listing) else ()
    given = [*problems, *(entry for entry in found.values() if isinstance(entry, Problem))]
    assert "damaged" in {entry.code for entry in given}


def test_a_rar_says_what_to_do(tmp_path: Path) -> None:
    for name, inside in (("a.rar", False), ("a.zip", True), ("unnamed", False)):
        data = b"Rar!\x1a\x07\x01\x00" + bytes(range(256)) * 4
        found = read(made(tmp_path, name, zipped({"in.rar": data}) if inside else data))
        outcome = found["in.rar" if inside else ""]
        assert isinstance(outcome, Problem)
        assert outcome.code == "needs-export"
        assert "RAR" in outcome.message
        assert "Unpack it" in outcome.hint


def test_a_zip_with_aes_says_what_to_do_with_and_without_the_password(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.txt": b"words"}, zipfile.ZIP_STORED))
    for at, flags in ((0, 6), (data.index(b"PK\x01\x02"), 8)):
        data[at + flags] |= 1
        data[at + flags + 2 : at + flags + 4] = (99).to_bytes(2, "little")
    path = made(tmp_path, "a.zip", bytes(data))
    for password in (None, "secret"):
        outcome = read(path, password=password)["a.txt"]
        assert isinstance(outcome, Problem)
        assert outcome.code == "encrypted"
        if password:
            assert "Unpack it" in outcome.hint
