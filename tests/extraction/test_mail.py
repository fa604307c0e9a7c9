from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction import extract


def read(folder: Path, data: bytes) -> ExtractedText:
    path = folder / "a.eml"
    path.write_bytes(data)
    return extract(path)


def mail(text: str = "The body of the mail.") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Jörg Müller <jm@example.org>"
    message["To"] = "Ann <ann@example.org>"
    message["Subject"] = "Grüße aus Köln"
    message["Date"] = "Wed, 01 Jan 2020 12:00:00 +0000"
    message.set_content(text)
    return message


def test_headers_are_decoded_and_the_date_is_the_mails(tmp_path: Path) -> None:
    document = read(tmp_path, mail().as_bytes())
    assert document.title == "Grüße aus Köln"
    assert document.date == 1577880000.0
    assert document.blocks[0].kind is BlockKind.HEADER
    assert "From: Jörg Müller <jm@example.org>" in document.text
    assert "The body of the mail." in document.text


def test_plain_text_is_preferred_unless_it_is_a_stub(tmp_path: Path) -> None:
    message = mail("The plain version says hello to everybody.")
    message.add_alternative("<p>The <b>rich</b> version says hello.</p>", subtype="html")
    document = read(tmp_path, message.as_bytes())
    assert "plain version" in document.text
    assert "rich version" not in document.text
    message = mail("No HTML here.")
    message.add_alternative("<h1>News</h1><p>" + "A long report about the harbour. " * 20 + "</p>", subtype="html")
    document = read(tmp_path, message.as_bytes())
    assert "harbour" in document.text
    assert document.title == "Grüße aus Köln"


def test_attachments_are_named(tmp_path: Path) -> None:
    message = mail()
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="Rechnung für Köln.pdf")
    assert "Attachments: Rechnung für Köln.pdf" in read(tmp_path, message.as_bytes()).text


def test_wrong_and_missing_charsets_still_give_text(tmp_path: Path) -> None:
    raw = b"Subject: =?iso-8859-1?Q?caf=E9?=\nContent-Type: text/plain; charset=nonsense\n\n"
    raw += "schöne Grüße".encode("cp1252")
    document = read(tmp_path, raw)
    assert document.title == "café"
    assert "schöne Grüße" in document.text


def test_broken_mails_do_not_raise_anything_else(tmp_path: Path) -> None:
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3000))
    for raw in (b"Subject: only headers\n", b"Content-Type: multipart/mixed\n\nno boundary", nested + b"text"):
        try:
            read(tmp_path, raw)
        except Exception as error:
            assert type(error).__name__ == "ExtractionError"  # noqa: PT017
