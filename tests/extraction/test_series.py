"""Series of results: where they go on after a child died, and after a mailbox grew."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText, Listing, Problem
from sbert_desktop.errors import ExtractionError, JobError
from sbert_desktop.extraction import ExtractionPool, child
from sbert_desktop.extraction._container import Member, Members, Remainder, Stop
from sbert_desktop.extraction._problems import failure, problem
from sbert_desktop.extraction._registry import BY_NAME, Format
from sbert_desktop.extraction._series import Entry, Place, find_member, series_of
from sbert_desktop.extraction._source import Source
from tests.extraction.conftest import Context, EagerChild, NearChild, ScriptChild, source


def mail(subject: str, **attachments: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", subject
    message["Date"] = "Mon, 01 Jan 2024 10:00:00 +0000"
    message.set_content(f"The words of {subject}.")
    for name, text in attachments.items():
        message.add_attachment(text.encode(), maintype="text", subtype="plain", filename=f"{name}.txt")
    return b"From a@example.org Mon Jan  1 10:00:00 2024\n" + message.as_bytes() + b"\n\n"


def test_a_mailbox_goes_on_at_the_message_whose_attachment_killed_the_child(tmp_path: Path) -> None:
    box = tmp_path / "a.mbox"
    third = mail("three", a="good", crash="x", b="better")
    box.write_bytes(mail("one", note="words") + mail("two") + third + mail("four"))
    pool = ExtractionPool(ScriptChild, 1, time_limit=20.0)
    results = [(file.member, outcome) for file, outcome in pool.results([source(box)], Context())]
    pool.close()
    assert [name for name, _ in results] == [
        "1 one.eml", "1 one.eml/note.txt", "2 two.eml", "3 three.eml", "3 three.eml/a.txt", "3 three.eml/crash.txt",
        "3 three.eml/b.txt", "4 four.eml", ""]
    found = dict(results)
    killer, listing = found["3 three.eml/crash.txt"], found[""]
    assert isinstance(killer, Problem)
    assert killer.code == "crashed-parser"
    assert isinstance(listing, Listing)
    assert (listing.members, listing.problems, listing.grown) == (8, (), False)
    assert listing.cursor


def test_a_mailbox_that_grew_gives_what_is_new(tmp_path: Path) -> None:
    box = tmp_path / "a.mbox"
    box.write_bytes(mail("one") + mail("two"))
    pool = ExtractionPool(NearChild, 1)
    *_, (_, listing) = pool.results([source(box)], Context())
    assert isinstance(listing, Listing)
    box.write_bytes(box.read_bytes() + mail("three", note="new words"))
    results = list(pool.results([replace(source(box), cursor=listing.cursor)], Context()))
    pool.close()
    names = [file.member for file, _ in results]
    assert "3 three.eml" in names
    assert "3 three.eml/note.txt" in names
    assert "1 one.eml" not in names
    grown = results[-1][1]
    assert isinstance(grown, Listing)
    assert grown.grown


def test_a_mailbox_has_no_limit_on_its_size(tmp_path: Path) -> None:
    box = tmp_path / "a.mbox"
    box.write_bytes(mail("one") * 3)
    pool = ExtractionPool(NearChild, 1, size_limit=500)
    results = [(file.member, outcome) for file, outcome in pool.results([source(box)], Context())]
    pool.close()
    assert len(results) == 4
    assert all(isinstance(outcome, ExtractedText) for name, outcome in results if name)


def test_a_long_mailbox_changes_children_without_losing_or_repeating_a_message(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "PAGE_RESULTS", 4)
    launched: list[NearChild] = []

    def launch() -> NearChild:
        launched.append(NearChild())
        return launched[-1]

    box = tmp_path / "a.mbox"
    box.write_bytes(b"".join(mail(f"number {number}", note="words") for number in range(12)))
    pool = ExtractionPool(launch, 1, recycle_after=4)
    results = [(file.member, outcome) for file, outcome in pool.results([source(box)], Context())]
    pool.close()
    assert [name for name, _ in results if name.endswith(".eml")] == [
        f"{number + 1} number {number}.eml" for number in range(12)]
    listing = results[-1][1]
    assert isinstance(listing, Listing)
    assert (listing.members, listing.grown, len(results)) == (24, False, 25)
    assert len(launched) >= 3


class TimedChild(EagerChild):
    """Notes how long each request for results that hung might have taken."""

    def __init__(self, allowed: list[float]) -> None:
        super().__init__()
        self._allowed = allowed

    def request(self, header: Mapping[str, object], payload: bytes = b"", *,
                timeout: float | None = None) -> tuple[dict[str, object], bytes]:
        try:
            return super().request(header, payload, timeout=timeout)
        except JobError:
            self._allowed.append(timeout or 0.0)
            raise


@pytest.mark.parametrize("names", [("hang.txt", "a.txt"), ("a.txt", "b.txt", "hang.txt", "c.txt"), ("stuck",)])
def test_what_hangs_is_waited_for_once(names: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / ("stuck.zip" if names == ("stuck",) else "x.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, f"words of {name}")
    limit, allowed = 60.0, list[float]()
    pool = ExtractionPool(lambda: TimedChild(allowed), 1, time_limit=limit)
    results = [(file.member, outcome) for file, outcome in pool.results([source(path)], Context())]
    pool.close()
    problems = {name: outcome.code for name, outcome in results if isinstance(outcome, Problem)}
    assert problems == {"" if names == ("stuck",) else "hang.txt": "timed-out"}
    if names != ("stuck",):
        assert [name for name, _ in results] == [*names, ""]
    assert allowed[0] == limit
    assert sum(allowed[1:]) < limit / 2  # some seconds to open it again, and what the members before took
    assert all(seconds > 5.0 for seconds in allowed[1:])  # in which a machine may stall
    assert len(allowed) <= 2


@pytest.mark.parametrize("mtime", [float("nan"), float("inf"), -1e30, 1e12])
def test_a_member_without_a_sensible_time_has_that_of_the_file(mtime: float, tmp_path: Path,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    def members(given: Source, cursor: str) -> Members:
        yield Member("a.txt", b"words", mtime)

    monkeypatch.setattr(Format, "members", lambda self: members)
    (tmp_path / "a.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    pool = ExtractionPool(NearChild, 1)
    (member, _), _ = pool.results([source(tmp_path / "a.zip")], Context())
    pool.close()
    assert member.mtime_ns == (tmp_path / "a.zip").stat().st_mtime_ns


# ---------------------------------------------------------------- a container of our own


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A container format whose generator gives what the test put into ``GIVEN``; notes what was loaded."""
    loaded: list[str] = []

    def members(given: Source, cursor: str) -> Members:
        start = int(cursor) if cursor else 0
        for number in range(start, 6):

            def load(number: int = number) -> bytes:
                loaded.append(str(number))
                if number == 2:
                    raise failure("encrypted")
                if number == 3:
                    raise RuntimeError("a bug of the loader")
                return f"words {number}".encode()

            yield Member(f"{number}.txt", load=load, cursor=str(number + 1))
        return Remainder((problem("needs-export", partial=True),), "6", bool(cursor))

    form = replace(BY_NAME["zip"], name="made-up")
    monkeypatch.setattr(Format, "members", lambda self: members)
    monkeypatch.setattr("sbert_desktop.extraction._series.BY_NAME", {**BY_NAME, "made-up": form})
    return loaded


def entries(place: Place | None = None, refused: Problem | None = None, *, rebase: bool = True
            ) -> tuple[list[Entry], Listing]:
    series = series_of(Source("a.made-up", b"x"), "made-up", place=place, refused=refused, rebase=rebase)
    found: list[Entry] = []
    while True:
        try:
            entry = next(series)
        except StopIteration as end:
            return found, end.value
        assert entry is not None
        found.append(entry)


def outcomes(found: list[Entry]) -> Mapping[str, str]:
    return {entry.member: entry.outcome.code if isinstance(entry.outcome, Problem) else entry.outcome.text
            for entry in found}


def test_what_a_member_raises_costs_the_member_only(made_up: list[str]) -> None:
    found, listing = entries()
    assert outcomes(found) == {"0.txt": "words 0", "1.txt": "words 1", "2.txt": "encrypted", "3.txt": "damaged",
                               "4.txt": "words 4", "5.txt": "words 5"}
    assert (listing.members, listing.cursor, listing.grown) == (6, "6", False)
    assert [entry.code for entry in listing.problems] == ["needs-export"]


def test_each_place_leads_to_the_rest_and_loads_nothing_before_it(made_up: list[str]) -> None:
    whole, _ = entries()
    for number, entry in enumerate(whole):
        made_up.clear()
        rest, _ = entries(entry.place)
        assert [later.member for later in rest] == [later.member for later in whole[number + 1 :]]
        assert made_up == [str(later) for later in range(number + 1, 6)]


def test_places_of_a_reading_that_is_continued_keep_its_cursor(made_up: list[str]) -> None:
    found, listing = entries(Place("2"), rebase=False)
    assert listing.grown
    assert {entry.place.cursor for entry in found} == {"2"}
    rest, _ = entries(found[1].place, rebase=False)
    assert [entry.member for entry in rest] == ["4.txt", "5.txt"]


def test_a_refused_member_is_given_without_being_read(made_up: list[str]) -> None:
    found, _ = entries(Place("1"), problem("timed-out"))
    assert outcomes(found)["1.txt"] == "timed-out"
    assert outcomes(found)["4.txt"] == "words 4"
    assert "1" not in made_up


def test_a_generator_that_fails_or_stops_ends_the_series_with_what_was_given(monkeypatch: pytest.MonkeyPatch,
                                                                             made_up: list[str]) -> None:
    for error, code in ((failure("damaged"), "damaged"), (RuntimeError("bug"), "damaged"),
                        (MemoryError(), "too-much-memory"), (Stop(problem("archive-limit")), "archive-limit")):

        def members(given: Source, cursor: str, error: Exception = error) -> Members:
            yield Member("a.txt", b"words")
            raise error

        monkeypatch.setattr(Format, "members", lambda self, members=members: members)
        found, listing = entries()
        assert outcomes(found) == {"a.txt": "words"}
        assert [(entry.code, entry.partial) for entry in listing.problems] == [(code, True)]


def test_a_generator_that_fails_at_once_is_the_files_own_problem(monkeypatch: pytest.MonkeyPatch,
                                                                 made_up: list[str]) -> None:
    def members(given: Source, cursor: str) -> Members:
        raise failure("encrypted")
        yield Member("a.txt", b"words")

    monkeypatch.setattr(Format, "members", lambda self: members)
    with pytest.raises(ExtractionError) as caught:
        entries()
    assert caught.value.code == "encrypted"


def test_a_member_is_found_by_its_name_and_others_are_not_loaded(made_up: list[str]) -> None:
    found = find_member(Source("a.made-up", b"x"), "made-up", "4.txt")
    assert isinstance(found, Source)
    assert found.data == b"words 4"
    assert made_up == ["4"]
    with pytest.raises(ExtractionError):
        find_member(Source("a.made-up", b"x"), "made-up", "9.txt")
