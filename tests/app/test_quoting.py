"""Check my quotes: each quotation is found with its place and page, and what the source says otherwise."""

from __future__ import annotations

import os
import shutil

import pytest

from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.quoting import page_at, run_family, run_quotes
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import HitView
from sbert_desktop.domain import Block, ExtractedText, ScoreKind
from sbert_desktop.encoder import HashingEncoder, opening
from sbert_desktop.errors import Cancelled, UsageError
from sbert_desktop.jobs import NullContext
from sbert_desktop.paths import resource
from tests.extraction.conftest import STYLES, make_docx, paragraph

MILL = (
    "The mill on the Harrow brook burned down in the night of the ninth of May. The miller, who slept in the village, "
    "saw the light over the poplars and ran without his boots. When he came to the weir the roof had fallen in, "
    "and the water hissed under the beams. Nobody was hurt. The insurance paid for the walls but not for the 1.5 tons "
    "of barley that lay in the loft."
)
FERRY = (
    "Until the bridge was built a ferry crossed the river below the church. The ferryman rang a bell for each "
    "passenger, and twice for a priest. In hard winters he cut a lane through the ice with a long saw."
)


@pytest.fixture
def library(session, tmp_path):
    """Indexes texts by name; gives their folder."""
    root = tmp_path / "docs"

    def index(**files: str):
        for name, text in files.items():
            path = root / name.replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        run_index(session, IndexRequest((root,)), NullContext())
        return root

    return index


def check(session, draft):
    return run_quotes(session, draft, NullContext())


def test_exact_quotation_is_found_with_its_file_and_its_own_wording(session, library):
    root = library(mill_txt=MILL, ferry_txt=FERRY)
    draft = "He writes: “the Miller, who slept in the village,\nsaw the light” and no more."
    [view] = check(session, draft)
    assert view.verdict == "exact"
    assert (view.path, view.member, view.changes) == (root / "mill.txt", "", ())
    assert view.source == "The miller, who slept in the village, saw the light"
    assert draft[view.start : view.end] == view.quoted
    assert view.passage_id > 0


def test_changed_quotation_says_what_the_source_says(session, library):
    root = library(mill_txt=MILL, ferry_txt=FERRY)
    [view] = check(session, 'As she says, "the ferryman rang a bell for every passenger, and thrice for a priest".')
    assert (view.verdict, view.path) == ("changed", root / "ferry.txt")
    assert [view.quoted[a:b] for a, b in view.changes] == ["every", "thrice"]
    assert view.source == "The ferryman rang a bell for each passenger, and twice for a priest"


def test_made_up_quotation_is_not_found(session, library):
    library(mill_txt=MILL, ferry_txt=FERRY)
    [view] = check(session, "She says “nobody in the valley ever owned a horse or a cow”.")
    assert (view.verdict, view.path, view.source, view.passage_id) == ("not found", None, "", 0)


def test_number_that_lost_its_point_is_a_change(session, library):
    library(mill_txt=MILL)
    [view] = check(session, "“not for the 15 tons of barley”")
    assert [view.quoted[a:b] for a, b in view.changes] == ["15"]


def test_ellipses_and_brackets_are_no_changes(session, library):
    library(mill_txt=MILL)
    views = check(
        session,
        "“[The] miller … ran without his boots.” And: “the roof had fallen in [...] and the water hissed.” "
        "But: “the miller … swam without his boots”.",
    )
    assert [view.verdict for view in views] == ["exact", "exact", "changed"]
    assert [views[2].quoted[a:b] for a, b in views[2].changes] == ["swam"]
    assert views[0].source.startswith("miller, who slept") or "[…]" in views[0].source


def test_draft_in_the_library_is_not_its_own_source(session, library):
    quote = FERRY.split(".")[0]
    draft = f'My own chapter begins here with many words. He says "{quote}" there. "These four words alone" too.'
    root = library(draft_txt=draft, ferry_txt=FERRY)
    views = check(session, root / "draft.txt")
    assert [(view.verdict, view.path) for view in views] == [("exact", root / "ferry.txt"), ("not found", None)]


def test_earlier_version_of_the_draft_is_no_source_either(session, library, tmp_path):
    own = (
        "My chapter on the valley begins with the water that ran through it. The people of the place lived by what it "
        "carried and by what it drove. I have walked the whole way from the spring to the weir myself. "
    )
    root = library(earlier_txt=own + "“Whoever drank of this water came back every year.”", ferry_txt=FERRY)
    draft = tmp_path / "draft.txt"
    draft.write_text(own + "As they say: “whoever drank of this water came back every year”, every one.")
    assert [view.verdict for view in check(session, draft)] == ["not found"]
    (root / "proverbs.txt").write_text("Old sayings.\n\nWhoever drank of this water came back every year.\n")
    run_index(session, IndexRequest((root,)), NullContext())
    assert [(v.verdict, v.path) for v in check(session, draft)] == [("exact", root / "proverbs.txt")]


def test_quotation_over_the_border_of_passages_is_found(session, library):
    things = ("river", "brook", "stream", "flood", "water", "tide", "wave", "current", "swell", "spring") * 12
    sentences = [f"On day {number} the {thing} rose {number + 3} feet." for number, thing in enumerate(things)]
    library(log_txt=" ".join(sentences))
    snapshot = session.snapshot()
    assert snapshot.passages > 2
    for number in range(0, len(sentences) - 12, 3):
        quote = " ".join(sentences[number : number + 12])
        assert [view.verdict for view in check(session, f"He noted: “{quote}”")] == ["exact"], number


def test_long_quotation_over_many_passages_is_found(session, library):
    words = [f"word{number}x" for number in range(2_000)]
    library(long_txt=" ".join(words))
    quote = " ".join(words[300:1_300])
    assert check(session, f"“{quote}”")[0].verdict == "exact"
    changed = check(session, f"“{quote.replace('word900x', 'another')}”")[0]
    assert [changed.quoted[a:b] for a, b in changed.changes] == ["another"]


def test_page_is_that_of_the_words_and_not_that_of_the_passage():
    pages = ExtractedText("pdf", "x" * 400, (Block(0, 120, page=3), Block(120, 400, page=4)))
    assert [page_at(pages, offset) for offset in (0, 119, 120, 399)] == [3, 3, 4, 4]
    assert page_at(ExtractedText("txt", "abc", (Block(0, 3),)), 1) is None


def test_quotation_on_a_later_page_of_its_passage_has_its_own_page(session, tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    shutil.copy(resource("sample") / "tenancy" / "tenancy-agreement-quarry-lane.pdf", root / "lease.pdf")
    run_index(session, IndexRequest((root,)), NullContext())
    draft = "“music is kept at a level that is not heard next door”, and: “A cat is permitted. No animals”"
    views = check(session, draft)
    assert [(view.verdict, view.page, view.path) for view in views] == [
        ("exact", 2, root / "lease.pdf"),
        ("changed", 2, root / "lease.pdf"),
    ]


def test_quotation_said_with_other_words_is_found_by_meaning_candidates(session, library):
    """Only the words that stand in many passages are the same: words alone list others first."""
    library(mill_txt=MILL, **{f"other{number}_txt": f"{FERRY} Entry {number}." for number in range(5)})
    [view] = check(session, "“the rooof had fallen in and the waterr hissed”")
    assert view.verdict == "changed"
    assert [view.quoted[a:b] for a, b in view.changes] == ["rooof", "waterr"]


def test_quotation_of_common_words_alone_is_found_among_many(session, library):
    """Fifty passages have all of its words, more often than the one that says it."""
    others = {f"other{number}_txt": "Be or not, to be it is not so, or to be it that to not be. " * 3 + f"No. {number}"
              for number in range(50)}  # fmt: skip
    root = library(play_txt="A man alone on a stage: to be or not to be, that is what he asks. " + FERRY * 3, **others)
    [view] = check(session, "He asks “to be or not to be, that is” all day.")
    assert (view.verdict, view.path) == ("exact", root / "play.txt")


def test_block_quote_of_a_plain_file_is_checked(session, library, tmp_path):
    root = library(ferry_txt=FERRY)
    draft = tmp_path / "draft.md"
    draft.write_text("# Chapter\n\nAs he says:\n\n> In hard winters he cut a lane\n> through the ice.\n\nYes.\n")
    [view] = check(session, draft)
    assert (view.verdict, view.path) == ("exact", root / "ferry.txt")


def test_strings_of_code_are_not_quotations(session, library, tmp_path):
    library(ferry_txt=FERRY)
    draft = tmp_path / "draft.py"
    draft.write_text('def f():\n    return "the ferryman rang a bell for each passenger"\n')
    assert check(session, draft) == ()


def test_inner_quotation_is_told_only_when_the_outer_one_is_not_found(session, library):
    library(ferry_txt=FERRY + " They said ‘the river takes one every year’ in the village.")
    [outer] = check(session, "“They said ‘the river takes one every year’ in the village.”")
    assert outer.verdict == "exact"
    views = check(session, "“My uncle Jonas always claimed loudly ‘the river takes one every year’ whenever we swam.”")
    assert [view.verdict for view in views] == ["not found", "exact"]


def test_source_whose_file_was_moved_away_is_told_by_its_other_copy(session, library):
    root = library(a_txt=FERRY, bcd_txt=FERRY)
    (root / "a.txt").unlink()
    [view] = check(session, "“a ferry crossed the river below the church”")
    assert view.path == root / "bcd.txt"


def test_draft_that_is_missing_or_holds_no_quotation(session, library, tmp_path):
    library(ferry_txt=FERRY)
    with pytest.raises(UsageError):
        check(session, tmp_path / "none.docx")
    assert check(session, "No quotation at all.") == ()
    assert check(session, "") == ()


def test_cancel_ends_the_search(session, library):
    library(ferry_txt=FERRY)

    class Cancelling(NullContext):
        def check(self):
            raise Cancelled

    with pytest.raises(Cancelled):
        run_quotes(session, "“a ferry crossed the river below the church”", Cancelling())


def test_words_alone_answer_when_there_is_no_model_or_another_one(session, library, tmp_path, settings, monkeypatch):
    library(ferry_txt=FERRY)
    draft = "“in hard winters he cut a lane” and “nobody in the valley ever owned a horse”"
    other = HashingEncoder(dimension=128, max_tokens=64, name="other")
    with monkeypatch.context() as patch:
        patch.setattr("sbert_desktop.encoder.hashing.HashingEncoder", lambda: other)
        opened = Session(tmp_path / "library", settings)
        try:
            assert [view.verdict for view in check(opened, draft)] == ["exact", "not found"]
        finally:
            opened.close()
    monkeypatch.setattr(opening, "default_model_dir", lambda: None)
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "auto")
    opened = Session(tmp_path / "library", settings)
    try:
        assert [view.verdict for view in check(opened, draft)] == ["exact", "not found"]
    finally:
        opened.close()


def test_library_without_vectors_is_searched_by_words(session, tmp_path):
    root = tmp_path / "words"
    root.mkdir()
    (root / "ferry.txt").write_text(FERRY)
    run_index(session, IndexRequest((root,), words_only=True), NullContext())
    assert not len(session.snapshot().vectors)
    [view] = check(session, "“twice for a priest. In hard summers”")
    assert (view.verdict, os.path.basename(view.path)) == ("changed", "ferry.txt")


LETTER = (
    "Dear Mrs Quarry, the boiler in our flat has been broken since the third of March. We told your caretaker twice. "
    "He came once and said that a part was missing. {0} We ask you to have it repaired. Yours, Ada Moor"
)
HALF, FIFTH = "We hold back half of the rent from April on.", "We hold back a fifth of the rent from May on."


def write_letters(root, **letters: str):
    """Writes letters, each a minute after the one before."""
    root.mkdir(parents=True, exist_ok=True)
    for number, (name, sentence) in enumerate(letters.items()):
        path = root / (name.replace("_", " ") + ".txt")
        path.write_text(LETTER.format(sentence))
        os.utime(path, (1_700_000_000 + 60 * number,) * 2)


def family(session, sentence, path):
    """Asks for the family of a file, as the hit with this sentence marked would."""
    content = session.library.content_at(path)
    snapshot = session.snapshot()
    ids, _, contents = snapshot.keyword(sentence, None, 50)
    own = [int(id_) for id_, owner in zip(ids, contents, strict=True) if owner == content]
    [record, *_] = snapshot.fetch(own).values()
    start = record.text.index(sentence)
    hit = HitView(
        record.passage_id, content, path, record.text, record.start, record.end, None, "", 1.0, ScoreKind.BM25, None,
        1.0, None, 1, (start, start + len(sentence)), (),
    )  # fmt: skip
    return run_family(session, hit)


def test_hit_in_a_family_says_which_version_it_is_and_where_its_sentence_changed(session, tmp_path):
    root = tmp_path / "docs"
    write_letters(root, letter_draft_1=HALF, letter_draft_2=HALF + " ", letter_draft_3=FIFTH, letter_final=FIFTH + "  ")
    (root / "other.txt").write_text(FERRY)
    run_index(session, IndexRequest((root,)), NullContext())
    found = family(session, FIFTH, root / "letter final.txt")
    assert found is not None
    assert [path.name for path in found.paths] == [
        "letter draft 1.txt", "letter draft 2.txt", "letter draft 3.txt", "letter final.txt",
    ]  # fmt: skip
    assert found.place == 3
    assert found.words == "newest of 4; this sentence changed in draft 3"
    old = family(session, HALF, root / "letter draft 2.txt")
    assert old is not None
    assert old.words == "version 2 of 4; the newest is “letter final.txt”; this sentence changed in draft 3"


def test_versions_without_numbers_are_in_the_order_of_their_files(session, tmp_path):
    root = tmp_path / "docs"
    write_letters(root, to_the_landlord=HALF, to_the_landlord_signed=FIFTH)
    write_letters(root / "elsewhere", boiler=FIFTH + " Really.")
    os.utime(root / "elsewhere" / "boiler.txt", (1_700_000_030,) * 2)
    run_index(session, IndexRequest((root,)), NullContext())
    found = family(session, HALF, root / "to the landlord.txt")
    assert found is not None
    assert [path.name for path in found.paths] == ["to the landlord.txt", "boiler.txt", "to the landlord signed.txt"]
    assert found.words.startswith("oldest of 3; the newest is “to the landlord signed.txt”; ")


def test_document_alone_identical_copies_and_what_is_gone_are_no_family(session, tmp_path):
    root = tmp_path / "docs"
    write_letters(root, letter_v1=HALF, letter_v1_copy=HALF, letter_v2=FIFTH)
    (root / "ferry.txt").write_text(FERRY)
    run_index(session, IndexRequest((root,)), NullContext())
    assert family(session, FERRY[:60], root / "ferry.txt") is None
    (root / "letter v2.txt").unlink()
    assert family(session, HALF, root / "letter v1.txt") is None


def test_replies_that_repeat_a_mail_are_no_versions(session, tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    head = "From: Ada <ada@example.org>\nTo: ben@example.org\nSubject: {0}\nContent-Type: text/plain; charset=utf-8\n\n"
    (root / "a.eml").write_text(head.format("Boiler") + LETTER.format(HALF))
    (root / "b.eml").write_text(head.format("Re: Boiler") + "Thank you.\n\n" + LETTER.format(HALF))
    run_index(session, IndexRequest((root,)), NullContext())
    assert family(session, HALF, root / "a.eml") is None


def test_family_is_found_by_words_without_vectors(session, tmp_path):
    root = tmp_path / "docs"
    write_letters(root, letter_v1=HALF, letter_v2=FIFTH)
    run_index(session, IndexRequest((root,), words_only=True), NullContext())
    found = family(session, FIFTH, root / "letter v2.txt")
    assert found is not None
    assert found.words.startswith("newest of 2; ")


def test_exact_quotation_inside_a_changed_one_speaks_for_itself(session, library):
    library(ferry_txt=FERRY)
    inner = "in hard winters he cut a lane through the ice"
    views = check(session, f"“An old neighbour once told me: ‘{inner}’ and then she laughed out loud”, he wrote.")
    assert (inner, "exact") in [(view.quoted, view.verdict) for view in views]


def test_draft_of_which_only_a_part_would_be_checked_is_refused(session, library, tmp_path, monkeypatch):
    library(ferry_txt=FERRY)
    draft = tmp_path / "long.html"
    draft.write_text(f"<p>{'A line of no account. ' * 200}</p><p>“in hard winters he cut a lane”</p>", "utf-8")
    assert [view.verdict for view in check(session, draft)] == ["exact"]
    monkeypatch.setattr("sbert_desktop.app.quoting.MOST_JOINED", 1000)
    with pytest.raises(UsageError) as told:
        check(session, draft)
    assert told.value.code == "draft-too-long"
    plain = tmp_path / "long.txt"  # such a one is read as it stands, whatever its length
    plain.write_text("A line of no account.\n" * 200 + "\n“in hard winters he cut a lane”", "utf-8")
    assert [view.verdict for view in check(session, plain)] == ["exact"]


@pytest.mark.parametrize("form", ["html", "docx"])
def test_block_quotes_of_a_formatted_draft_are_checked(session, library, tmp_path, form):
    root = library(mill_txt=MILL, ferry_txt=FERRY)
    own = "He writes:"
    first = "The miller, who slept in the hamlet, saw the light over the poplars and ran without his boots."
    second = "When he came to the weir the roof had fallen in."
    draft = tmp_path / f"draft.{form}"
    if form == "html":
        draft.write_text(f"<p>{own}</p><blockquote><p>{first}</p><p>{second}</p></blockquote><p>In hard winters he "
                         "cut a lane through the ice.</p>")  # fmt: skip
    else:
        draft.write_bytes(make_docx(
            paragraph(own) + paragraph(first, "Zitat") + paragraph(second, "Zitat") + paragraph("No more."),
            word__styles=STYLES.replace(
                "</w:styles>", '<w:style w:styleId="Zitat"><w:name w:val="Quote"/></w:style></w:styles>'),
        ))  # fmt: skip
    (view,) = check(session, draft)
    assert (view.verdict, view.path) == ("changed", root / "mill.txt")
    assert view.quoted.split() == f"{first} {second}".split()
    assert [view.quoted[start:end] for start, end in view.changes] == ["hamlet"]


def test_code_in_a_draft_is_not_checked(session, library, tmp_path):
    library(mill_txt=MILL)
    draft = tmp_path / "draft.md"
    quoted = "“The miller, who slept in the village”"
    draft.write_text(f"He writes {quoted}.\n\n```\nprint({quoted!r}, “and nothing of that was said”)\n```\n", "utf-8")
    assert [view.verdict for view in check(session, draft)] == ["exact"]
