"""Files with members, end to end: found with their place, gone when they go, read once though linked twice."""

from __future__ import annotations

import os
import zipfile

from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.overview import library_view, problem_views
from sbert_desktop.app.reading import read_files
from sbert_desktop.app.searching import run_search
from sbert_desktop.domain import Mode, Problem, Query, SourceFile
from sbert_desktop.jobs import NullContext


def index(session, *folders, **options):
    return run_index(session, IndexRequest(tuple(folders), **options), NullContext())


def found(session, text):
    view = run_search(session, Query(text, mode=Mode.KEYWORD))
    return [(document.path.name, document.member) for document in view.documents]


def pack(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "/") + ".txt", text)


def letter(number, text):
    return (
        f"From ada@example.org Tue Mar 14 10:00:{number:02} 2023\nFrom: Ada Moor <ada@example.org>\n"
        f"Subject: Letter {number}\nDate: Tue, 14 Mar 2023 10:00:{number:02} +0000\n"
        f"Content-Type: text/plain; charset=utf-8\n\n{text}\n\n"
    )


def test_members_of_an_archive_are_found_and_leave_with_it(session, folder):
    pack(folder / "box.zip", a="The ferry leaves at dawn.", sub_b="The anvil rings at noon.")
    report = index(session, folder)
    assert (report.added, report.documents) == (7, 8)
    assert found(session, "ferry dawn") == [("box.zip", "a.txt")]
    assert found(session, "anvil") == [("box.zip", "sub/b.txt")]
    view = run_search(session, Query("anvil", mode=Mode.KEYWORD)).documents[0]
    assert view.hits[0].member == "sub/b.txt"
    assert view.state == "current"
    pack(folder / "box.zip", sub_b="The anvil rings at noon.", c="A thimble was lost.")
    assert run_search(session, Query("anvil", mode=Mode.KEYWORD)).documents[0].state == "changed"
    report = index(session)
    assert (report.changed, report.documents, report.encoded_passages) == (1, 8, 1)
    assert found(session, "ferry dawn") == []
    assert found(session, "thimble") == [("box.zip", "c.txt")]
    assert index(session).unchanged == 7
    (folder / "box.zip").unlink()
    assert index(session).documents == 6
    assert found(session, "anvil") == []


def test_a_mailbox_that_grows_is_read_from_where_it_ended(session, folder):
    box = folder / "inbox.mbox"
    box.write_text("".join(letter(n, f"Message {n} speaks of the quarry.") for n in range(30)))
    assert index(session, folder).documents == 36
    with box.open("a") as stream:
        stream.write(letter(30, "The last one speaks of the ostrich."))
    report = index(session)
    assert (report.changed, report.documents, report.encoded_passages) == (1, 37, 1)
    ((name, member),) = found(session, "ostrich")
    assert name == "inbox.mbox"
    assert "Letter 30" in member
    assert len(run_search(session, Query("quarry", mode=Mode.KEYWORD, top=50)).documents) == 30
    box.write_text(letter(0, "Only this one is left, and it speaks of the quarry."))
    assert index(session).documents == 7


def test_hard_links_are_read_once_and_found_at_both_places(session, folder, monkeypatch):
    os.link(folder / "kitchen" / "bread.txt", folder / "link.txt")
    read: list[str] = []
    from sbert_desktop.extraction import ExtractionPool

    results = ExtractionPool.results

    def counted(self, files, context):
        given = list(files)
        read.extend(file.path.name for file in given)
        return results(self, given, context)

    monkeypatch.setattr(ExtractionPool, "results", counted)
    report = index(session, folder)
    assert (report.added, report.documents) == (7, 7)
    assert sorted({"bread.txt", "link.txt"} & set(read)) in (["bread.txt"], ["link.txt"])
    document = run_search(session, Query("sourdough", mode=Mode.KEYWORD)).documents[0]
    assert sorted(path.name for path in document.paths) == ["bread.txt", "link.txt"]
    os.rename(folder / "link.txt", folder / "other.txt")
    assert index(session).moved == 1


def test_damaged_member_is_listed_and_the_rest_is_found(session, folder):
    with zipfile.ZipFile(folder / "box.zip", "w") as archive:
        archive.writestr("good.txt", "The ferry leaves at dawn.")
        archive.writestr("bad.pdf", b"%PDF-1.4 nothing")
    index(session, folder)
    listed = {(view.path.name, view.member): view for view in problem_views(session)}
    assert set(listed) == {("box.zip", "bad.pdf")}
    assert library_view(session).folders[0].problems == 1
    assert found(session, "ferry") == [("box.zip", "good.txt")]


def test_extract_gives_members_and_then_the_container(session, folder):
    pack(folder / "box.zip", a="The ferry leaves at dawn.", b="The anvil rings.")
    first, second, whole = read_files(session, [folder / "box.zip"], NullContext())
    assert [first.member, second.member, whole.member] == ["a.txt", "b.txt", ""]
    assert whole.members == 2
    assert "ferry" in whole.text.text
    assert "anvil" in whole.text.text


def test_container_that_a_kill_cut_short_is_completed(session, folder):
    pack(folder / "box.zip", a="The ferry leaves at dawn.", b="The anvil rings.")
    index(session, folder)
    record = session.library.folders()[0]
    status = (folder / "box.zip").stat()
    from sbert_desktop.domain import SourceFile

    file = SourceFile(folder / "box.zip", status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)
    with session.library.writer() as writer:
        writer.begin_container(record.id, file)  # a kill leaves it so
    assert found(session, "ferry") == [("box.zip", "a.txt")]
    report = index(session)
    assert (report.changed, report.documents, report.encoded_passages) == (1, 8, 0)


def test_what_went_over_a_limit_is_tried_again_once_that_limit_was_raised(session, folder):
    path = folder / "slow.txt"
    path.write_text("The heron waits in the reeds.")
    index(session, folder)
    record = session.library.folders()[0]
    file = source_of(path)
    for told, again in (("30 s", True), ("60 s", False), ("90 s", False)):
        problem = Problem("timed-out", f"Reading the file took longer than the limit of {told}.", "")
        with session.library.writer() as writer:
            writer.put(record.id, file, None, (), (problem,))
            writer.commit()
        index(session)
        assert (found(session, "heron") != []) is again, told


def test_extract_shows_what_a_mail_itself_says_in_its_own_entry(session, folder, capsys):
    from email.message import EmailMessage

    from sbert_desktop.cli._commands import _print_read

    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "Greetings"
    mail.set_content("The kettle sings.")
    mail.add_attachment(b"The anchor holds.", maintype="text", subtype="plain", filename="note.txt")
    (folder / "mail.eml").write_bytes(mail.as_bytes())
    for read in read_files(session, [folder / "mail.eml"], NullContext()):
        _print_read(read)
    shown = capsys.readouterr().out
    assert shown.count("The anchor holds.") == 1
    assert shown.count("The kettle sings.") == 1
    assert shown.index("members, shown above") < shown.index("The kettle sings.")


def source_of(path):
    status = path.stat()
    return SourceFile(path, status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)
