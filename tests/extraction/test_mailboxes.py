"""Mailboxes and mail with attachments: every message and every attachment is a member, growth is read from the end."""

from __future__ import annotations

import base64
import json
import struct
from email.message import EmailMessage
from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText, Listing, Problem
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import _mbox as mbox_module
from sbert_desktop.extraction import extract, format_of
from sbert_desktop.extraction._container import Member, Remainder
from sbert_desktop.extraction._extract import name_format
from sbert_desktop.extraction._mail import decode_words, unflowed
from sbert_desktop.extraction._mbox import members
from sbert_desktop.extraction._msg import decompress_rtf, html_of
from sbert_desktop.extraction._series import series_of
from sbert_desktop.extraction._source import Source, open_file

FROM = "From ann@example.org Mon Jan  6 10:00:00 2020\n"


def mail(subject: str, body: str = "The body.\n", extra: str = "") -> str:
    return (f"From: Ann <ann@example.org>\nTo: Bob <bob@example.org>\nSubject: {subject}\n"
            f"Date: Mon, 06 Jan 2020 10:00:00 +0000\n{extra}\n{body}\n")


def box(*subjects: str, body: str = "The body.\n") -> str:
    return "".join(FROM + mail(subject, body) for subject in subjects)


def given(path: Path, cursor: str = "") -> tuple[list[Member], Remainder]:
    with open_file(path) as opened:
        found = members(Source(path.name, file=opened.file), cursor)
        listed: list[Member] = []
        while True:
            try:
                listed.append(next(found))
            except StopIteration as end:
                assert isinstance(end.value, Remainder)  # noqa: PT017
                return listed, end.value


def series(name: str, data: bytes) -> tuple[dict[str, ExtractedText | Problem], Listing]:
    source = Source(name, data)
    entries = series_of(source, name_format(source))
    found: dict[str, ExtractedText | Problem] = {}
    while True:
        try:
            entry = next(entries)
            found[entry.member] = entry.outcome
        except StopIteration as end:
            assert isinstance(end.value, Listing)  # noqa: PT017
            return found, end.value


def text_of(outcome: ExtractedText | Problem | None) -> str:
    assert isinstance(outcome, ExtractedText)
    return outcome.text


# ---------------------------------------------------------------- mbox


def test_each_message_is_a_member_with_its_number_and_subject(tmp_path: Path) -> None:
    path = tmp_path / "box.mbox"
    path.write_text(box("Re: flat", "=?utf-8?B?R3LDvMOfZQ==?=", "a/b\\c", "x" * 200, ""))
    listed, _ = given(path)
    assert [member.name for member in listed] == [
        "1 Re: flat.eml", "2 Grüße.eml", "3 a-b-c.eml", f"4 {'x' * 80}.eml", "5.eml"]
    assert listed[0].mtime == 1578304800.0
    assert listed[0].data is not None
    assert listed[0].data.startswith(b"From: Ann")


@pytest.mark.parametrize("body", [
    "From here on it gets cold.\n", "text\n\nFrom the mountains we came.\nSubject: this is no header\n",
    "\nFrom Ann Mon Jan  6 10:00:00 2020\nno header follows\n", ">From quoted\n>>From twice\n",
    "\nFrom \nSubject matter\n", "\nFrom: colon\n", "no blank before\nFrom a@b.c Mon Jan  6 10:00:00 2020\nnote: x\n"])
def test_sentences_that_begin_with_from_part_no_message(tmp_path: Path, body: str) -> None:
    path = tmp_path / "box"
    path.write_text(box("one", "two", body=body))
    listed, _ = given(path)
    assert [member.name for member in listed] == ["1 one.eml", "2 two.eml"]
    assert listed[0].data is not None
    expected = body.replace(">From", "From").replace(">>From", ">From")
    assert expected in listed[0].data.decode()


@pytest.mark.parametrize("line", [
    "From ann@example.org Mon Jan  6 10:00:00 2020", "From - Mon Jan  6 10:00:00 2020", "From ", "From -",
    "From ann@example.org  Mon Jan 06 10:00:00 +0000 2020", "From MAILER-DAEMON Mon Jan  6 10:00 2020",
    'From "a b"@example.org Mon Jan  6 10:00:00 CET 2020', "From 1234@xxx Mon, 6 Jan 2020 10:00:00 +0000"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_from_lines_of_all_mailers_are_known(tmp_path: Path, line: str, end: str) -> None:
    path = tmp_path / "Inbox"
    text = "".join(f"{line}\n{mail(subject)}" for subject in ("one", "two", "three")).replace("\n", end)
    path.write_bytes(text.encode())
    assert [member.name for member in given(path)[0]] == ["1 one.eml", "2 two.eml", "3 three.eml"]
    assert format_of(path, path.read_bytes()[:8192]) == "mbox"


def test_borders_are_found_wherever_the_blocks_of_reading_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "box"
    path.write_text(box(*(f"number {n}" for n in range(30))))
    monkeypatch.setattr(mbox_module, "_LOOK_AHEAD", 150)
    for size in (7, 64, 97, 210):
        monkeypatch.setattr(mbox_module, "_BLOCK", size)
        listed, _ = given(path)
        assert [member.name for member in listed] == [f"{n + 1} number {n}.eml" for n in range(30)]


def test_a_grown_box_is_read_from_its_last_message_on(tmp_path: Path) -> None:
    path = tmp_path / "box"
    path.write_text(box("one", "two", "three"))
    _, remainder = given(path)
    assert not remainder.grown
    assert json.loads(remainder.cursor)["count"] == 2
    path.write_text(box("one", "two", "three", "four"))
    listed, grown = given(path, remainder.cursor)
    assert grown.grown
    assert [member.name for member in listed] == ["3 three.eml", "4 four.eml"]
    listed, _ = given(path, listed[-1].cursor)  # the cursor of a member leads behind it
    assert listed == []


def test_a_half_written_last_message_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "box"
    path.write_text(box("one") + FROM + "From: Ann <ann@ex")
    listed, remainder = given(path)
    assert [member.name for member in listed] == ["1 one.eml"]
    path.write_text(box("one") + FROM + mail("two", "half a sen")[:-1])
    listed, remainder = given(path, remainder.cursor)
    assert [member.name for member in listed] == ["1 one.eml", "2 two.eml"]
    path.write_text(box("one") + FROM + mail("two", "half a sentence, now whole"))
    listed, remainder = given(path, remainder.cursor)
    assert remainder.grown
    assert [member.name for member in listed] == ["2 two.eml"]
    assert listed[0].data is not None
    assert b"now whole" in listed[0].data


@pytest.mark.parametrize("cursor", ["", "{}", "x", "[1]", '{"offset": -1, "count": 1, "head": "", "tail": ""}',
                                    '{"offset": 99999999, "count": 1, "head": "", "tail": ""}', "null"])
def test_a_box_that_changed_is_read_from_the_start(tmp_path: Path, cursor: str) -> None:
    path = tmp_path / "box"
    path.write_text(box("one", "two"))
    listed, remainder = given(path, cursor)
    assert (len(listed), remainder.grown) == (2, False)
    path.write_text(box("other", "two", "three"))  # compacted: the bytes before the offset are others
    listed, remainder = given(path, remainder.cursor)
    assert ([member.name for member in listed], remainder.grown) == (["1 other.eml", "2 two.eml", "3 three.eml"], False)


def test_marking_a_mail_as_read_does_not_begin_the_box_again(tmp_path: Path) -> None:
    path = tmp_path / "Inbox"
    text = "".join(f"From - Mon Jan  6 10:00:00 2020\nX-Mozilla-Status: 0000\nX-Mozilla-Status2: 00000000\n{mail(name)}"
                   for name in ("one", "two", "three"))
    path.write_text(text)
    _, remainder = given(path)
    path.write_text(text.replace("Status: 0000", "Status: 0001") + "From - Mon Jan  6 10:00:00 2020\n" + mail("four"))
    listed, remainder = given(path, remainder.cursor)
    assert remainder.grown
    assert [member.name for member in listed] == ["3 three.eml", "4 four.eml"]


def test_a_message_over_the_limit_costs_itself_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mbox_module, "MESSAGE_LIMIT", 20_000)
    monkeypatch.setattr(mbox_module, "_BLOCK", 8192)
    path = tmp_path / "box"
    path.write_text(box("one") + FROM + mail("huge", "line of text\n" * 5000) + box("three"))
    listed, _ = given(path)
    assert [member.name for member in listed] == ["1 one.eml", "2 huge.eml", "3 three.eml"]
    assert listed[1].problem is not None
    assert listed[1].problem.code == "too-large"
    assert listed[2].data is not None


def test_a_box_streams_in_little_memory_at_a_steady_pace(tmp_path: Path) -> None:
    import time
    import tracemalloc

    path = tmp_path / "box"
    body = "A line of the letter, not too short.\n" * 300
    with path.open("w") as stream:
        for number in range(4000):
            stream.write(FROM + mail(f"number {number}", body))
    began = time.process_time()
    tracemalloc.start()
    with open_file(path) as opened:
        count = sum(1 for _ in members(Source(path.name, file=opened.file), ""))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 4000
    assert peak < 16 * 1024 * 1024
    assert time.process_time() - began < 10


def test_what_is_no_mailbox_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    path.write_text("just words\n" * 10)
    with pytest.raises(ExtractionError) as caught:
        given(path)
    assert caught.value.code == "damaged"


# ---------------------------------------------------------------- mail and its attachments


def with_attachments() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ann <ann@example.org>", "Flat"
    message["Date"] = "Mon, 06 Jan 2020 10:00:00 +0000"
    message.set_content("See the plan.")
    message.add_attachment("The kitchen is large.", filename="plan Küche.txt")
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "Bob <bob@example.org>", "Re: old / new"
    inner.set_content("The landlord agreed.")
    inner.add_attachment("name,rent\nflat,700\n", subtype="csv", filename="rent.csv")
    message.add_attachment(inner)
    message.add_attachment(b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Viewing\nEND:VEVENT\nEND:VCALENDAR\n",
                           maintype="text", subtype="calendar")
    message.add_attachment(b"signed", maintype="application", subtype="pkcs7-signature", filename="smime.p7s")
    return message


def test_attachments_and_attached_mails_are_members_below_their_mail() -> None:
    found, listing = series("a.eml", with_attachments().as_bytes())
    assert set(found) == {"plan Küche.txt", "Re: old - new.eml", "Re: old - new.eml/rent.csv", "attachment 3.ics"}
    assert text_of(found["plan Küche.txt"]) == "The kitchen is large."
    assert "The landlord agreed." in text_of(found["Re: old - new.eml"])
    assert text_of(found["Re: old - new.eml/rent.csv"]) == "name\trent\nflat\t700"
    assert text_of(found["attachment 3.ics"]) == "Viewing"
    assert listing.document is not None
    assert listing.document.title == "Flat"
    assert "See the plan." in listing.document.text
    assert "landlord" not in listing.document.text
    assert "Attachments: plan Küche.txt, Re: old / new, smime.p7s" in listing.document.text


def test_a_mailbox_gives_attachments_below_their_message() -> None:
    data = (box("first") + FROM).encode() + with_attachments().as_bytes() + b"\n"
    found, listing = series("Archive", data)
    assert list(found) == ["1 first.eml", "2 Flat.eml", "2 Flat.eml/plan Küche.txt", "2 Flat.eml/Re: old - new.eml",
                           "2 Flat.eml/Re: old - new.eml/rent.csv", "2 Flat.eml/attachment 3.ics"]
    assert listing.document is None
    assert listing.cursor


def test_pictures_of_the_layout_are_no_members() -> None:
    message = EmailMessage()
    message["Subject"] = "Logo"
    message.set_content("x")
    message.add_alternative("<p>A letter with a logo, long enough to be read by all.</p><img src='cid:logo'>",
                            subtype="html")
    html = message.get_payload(1)  # type: ignore[call-overload]
    html.add_related(b"\x89PNG", maintype="image", subtype="png", cid="<logo>", filename="logo.png")
    found, listing = series("a.eml", message.as_bytes())
    assert not found
    assert "logo.png" not in text_of(listing.document)
    assert "A letter with a logo" in text_of(listing.document)


@pytest.mark.parametrize(("raw", "text"), [
    ("=?iso-8859-1?Q?caf=E9_noir?=", "café noir"), ("=?utf-8?b?R3LDvMOfZQ?=", "Grüße"), ("plain", "plain"),
    ("=?utf-8?B?44G+44G/44KA44KB?=\n =?utf-8?B?44KC?=", "まみむめも"),
    ("=?utf-8?B?44G+44G?= =?utf-8?B?/44KA?=", "まみむ"),  # cut inside a character
    ("Re: =?iso-2022-jp?B?GyRCJF4kXyRgGyhC?= (x)", "Re: まみむ (x)"), ("=?x?Q?broken", "=?x?Q?broken"),
    ("=?gb2312?B?xOO6ww==?=", "你好"), ("=?utf-8*en?Q?language?=", "language"),
    ("caf\udcc3\udca9", "café")])
def test_headers_are_decoded(raw: str, text: str) -> None:
    assert decode_words(raw) == text


def test_flowed_text_is_joined_to_paragraphs() -> None:
    assert unflowed("A long \nsentence.\n> quoted \n> more\n\n-- \nAnn") == \
        "A long sentence.\n> quoted \n> more\n\n-- \nAnn"


def test_apple_mail_files_lose_their_length_and_plist(tmp_path: Path) -> None:
    body = mail("Apple", "The orchard.\n").encode()
    plist = (b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "x">\n'
             b"<plist><dict><key>flags</key></dict></plist>\n")
    for length in (len(body), 7):  # a wrong length as well
        path = tmp_path / "1.emlx"
        path.write_bytes(b"%-10d\n" % length + body + plist)
        document = extract(path)
        assert document.title == "Apple"
        assert document.text.endswith("The orchard.")


def test_saved_pages_are_read_without_their_mail_headers(tmp_path: Path) -> None:
    page = base64.b64encode("<html><head><title>Garden</title></head><body><p>Tülips bloom.</p></body>".encode())
    path = tmp_path / "a.mhtml"
    path.write_bytes(b"From: <Saved by Blink>\nSnapshot-Content-Location: https://x.org/\nSubject: Garden\n"
                     b"Date: Mon, 6 Jan 2020 10:00:00 -0000\nMIME-Version: 1.0\n"
                     b'Content-Type: multipart/related; type="text/html"; boundary="b"\n\n--b\n'
                     b"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n" + page +
                     b"\n--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n")
    document = extract(path)
    assert (document.format, document.title, document.text) == ("mht", "Garden", "Tülips bloom.")
    assert document.date == 1578304800.0


@pytest.mark.parametrize("name", ["1700000000.M1P2.host:2,S", "1700000000.V1.host.py",
                                  "1700000000.M1P2Q3.mail.example.com", "letter", "old.mail", "x.eml.bak"])
def test_mails_without_their_suffix_are_told_by_content(name: str) -> None:
    head = ("Return-Path: <a@b.c>\nDKIM-Signature: v=1;\n  a=rsa\n" + mail("x")).encode()
    assert format_of(Path(name), head) == "eml"


def test_what_thunderbird_keeps_beside_a_box_is_left_out() -> None:
    assert format_of(Path("Inbox.msf"), b"// <!-- <mdb:mork:z v=\"1.4\"/> -->\n") is None
    assert format_of(Path("notes.txt"), b"From Ann to Bob\n\nDear Bob") == "txt"


@pytest.mark.parametrize("name", ["mail.pst", "mail.ost"])
def test_stores_of_outlook_say_how_to_export_them(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"!BDN" + bytes(2000))
    with pytest.raises(ExtractionError) as caught:
        extract(path)
    assert caught.value.code == "needs-export"
    assert "Thunderbird" in caught.value.hint


def test_encrypted_mail_is_said_to_be_encrypted() -> None:
    raw = (b"From: a@b.c\nSubject: Secret\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n"
           b"Content-Type: application/pgp-encrypted\n\nVersion: 1\n--b\n"
           b"Content-Type: application/octet-stream\n\n-----BEGIN PGP MESSAGE-----\n--b--\n")
    found, listing = series("a.eml", raw)
    assert not found
    assert listing.document is not None
    assert [problem.code for problem in listing.document.problems] == ["encrypted"]


def test_thousands_of_nested_parts_and_of_attachments_end_soon() -> None:
    import time

    began = time.process_time()
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(5000))
    _, listing = series("a.eml", b"Subject: deep\n" + nested + b"buried")
    assert listing.document is not None
    many = EmailMessage()
    many["Subject"] = "many"
    many.set_content("x")
    raw = b"Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n" + b"".join(
        b"--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=%d.txt\n\nwords %d\n" % (n, n)
        for n in range(1000)) + b"--b--\n"
    found, listing = series("a.eml", raw)
    assert len(found) == 500
    assert [problem.code for problem in listing.problems] == ["archive-limit"]
    assert time.process_time() - began < 20


# ---------------------------------------------------------------- Outlook


RTF = b"{\\rtf1\\ansi\\ansicpg1252 The tulips bl\\'fchen. }"


def test_compressed_rtf_is_unpacked() -> None:
    assert decompress_rtf(struct.pack("<IIII", len(RTF) + 12, len(RTF), 0x414C454D, 0) + RTF) == RTF
    # "{\rtf1\ansi abcabc}" by hand: a literal, a reference into the first text, literals, a reference, the end.
    window = b"{\\rtf1\\ansi\\mac"
    at = 207
    tokens = [struct.pack(">H", 0 << 4 | (len(window[:11]) - 2)), b" ", b"a", b"b", b"c"]
    at += 11 + 4
    tokens += [struct.pack(">H", (at - 3) << 4 | 1), b"}"]
    at += 4
    tokens += [struct.pack(">H", at << 4)]
    control = 0b10100001
    packed = bytes([control]) + b"".join(tokens)
    data = struct.pack("<IIII", len(packed) + 12, 19, 0x75465A4C, 0) + packed
    assert decompress_rtf(data) == b"{\\rtf1\\ansi abcabc}"
    for cut in range(len(data)):
        assert len(decompress_rtf(data[:cut])) <= 19


def test_html_inside_rtf_is_taken_out() -> None:
    rtf = (b"{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 \\deff0{\\fonttbl{\\f0 Arial;}}"
           b"{\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 Gr\\'fc\\u223?e \\htmlrtf\\par\\htmlrtf0 "
           b"{\\*\\htmltag84 <b>}x{\\*\\htmltag92 </b>}"
           b"\\htmlrtf }\\htmlrtf0 {\\*\\htmltag72 </p>}}")
    assert html_of(rtf) == "<p>Grüße <b>x</b></p>"


def test_winmail_dat_gives_text_and_attachments() -> None:
    def attribute(key: int, data: bytes) -> bytes:
        return b"\x01" + struct.pack("<HHI", key, 0x0006, len(data)) + data + b"\0\0"

    data = (b"\x78\x9f\x3e\x22\0\0" + attribute(0x9007, struct.pack("<I", 1252)) + attribute(0x8004, b"The plan\0")
            + attribute(0x800C, "Grüße aus Köln\0".encode("cp1252")) + attribute(0x9002, bytes(14))
            + attribute(0x8010, b"plan.txt\0") + attribute(0x800F, b"The kitchen is large."))
    found, listing = series("winmail.dat", data)
    assert text_of(found["plan.txt"]) == "The kitchen is large."
    assert listing.document is not None
    assert (listing.document.title, listing.document.text) == ("The plan", "Grüße aus Köln")


def test_a_broken_outlook_message_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.msg"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)) * 16)
    with pytest.raises(ExtractionError) as caught:
        extract(path)
    assert caught.value.code == "damaged"


def test_a_plain_mail_with_outlooks_suffix_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.msg"
    path.write_text(mail("plain"))
    assert extract(path).title == "plain"


def test_a_box_that_grows_while_it_is_read_ends_where_it_ended_when_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "box.mbox"
    path.write_text(box("one", "two", body="words " * 400_000))
    names = []
    with open_file(path) as opened:
        for member in members(Source(path.name, file=opened.file)):
            names.append(member.name)
            assert len(names) < 10, "it runs after its own end"
            with path.open("a") as stream:
                stream.write(box(f"later {len(names)}", body="words " * 400_000))
    assert [name.partition(" ")[2] for name in names] == ["one.eml", "two.eml"]
