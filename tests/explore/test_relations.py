"""What holds between two texts: the same words in any format, numbers only, near, contained, and what each lacks."""

from __future__ import annotations

import random
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.cleanup import DuplicateKind
from sbert_desktop.domain import Block, BlockKind
from sbert_desktop.explore import comparable, relations
from sbert_desktop.explore.comparable import Comparable, Fingerprint
from sbert_desktop.explore.relations import count_missing, in_order, missing_sentences, relate
from sbert_desktop.extraction import extract
from tests.extraction.conftest import make_docx, paragraph
from tests.extraction.pdf_parts import pdf_of, shown

TITLE = "Rules of the house at Moor Lane"
PARAGRAPHS = (
    "Whoever leaves the building last turns off the lights, closes all windows and locks the well-known green door. "
    "The key hangs behind the caretaker's desk; nobody takes it home.",
    "Bicycles stand in the yard, not in the hallway. The fire brigade has asked us twice to keep the stairs free, and "
    "the insurance company will not pay for anything that burns because of a blocked exit.",
    "Rubbish is collected on Tuesdays and Fridays. Paper goes into the blue bin, glass into the container at the "
    "corner of the street, and whatever is too large for a bin is announced to the office beforehand.",
    "Guests may stay for up to 14 nights. For longer stays the office needs a name and a telephone number, so that "
    "in an emergency nobody is forgotten.",
    "Music is played until 22:00 at most. On the first Saturday of a month the common room may be used until midnight "
    "if the neighbours on both floors agree beforehand and in writing.",
    "Whatever breaks is reported the same day. A broken lamp costs 12.50 euros, a broken window between 80 and 200 "
    "euros; what was broken before you came is entered in the protocol and costs you nothing.",
)
POINTS = ("Sweep the yard", "Water the plants on the landing", "Read the meters and write them down")


def near(text: str, **changes: str) -> str:
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def text_of(*parts: str) -> str:
    return "\n\n".join(parts or PARAGRAPHS)


def as_pdf() -> bytes:
    lines: list[tuple[str, bool]] = [(TITLE, True)]
    for part in PARAGRAPHS:
        lines += [(line, place == 0) for place, line in enumerate(textwrap.wrap(part, 62))]
    lines += [(f"{number}. {point}", True) for number, point in enumerate(POINTS, 1)]
    pages = []
    size = 14
    count = -(-len(lines) // size)
    for page in range(count):
        y = 700.0
        items = [
            (72.0, 760.0, 9.0, "Moor Estate, caretaker's office"),
            (280.0, 30.0, 9.0, f"Page {page + 1} of {count}"),
        ]
        for line, begins in lines[page * size : (page + 1) * size]:
            y -= 30 if begins else 14
            items.append((72.0, y, 11.0, line))
        pages.append(shown(items))
    return pdf_of(pages)


def write_formats(folder: Path) -> dict[str, Path]:
    """Saves the same paragraphs as txt, md, docx, html and pdf."""
    listed = "\n".join(f"{number}. {point}" for number, point in enumerate(POINTS, 1))
    pointed = "\n".join(f"* {point}" for point in POINTS)
    wrapped = "\n\n".join(textwrap.fill(part, 50) for part in PARAGRAPHS)
    broken = wrapped.replace("insurance", "insur-\nance")
    paragraphs = "".join(f"<p>{part.replace('green', '<b>green</b>')}</p>" for part in PARAGRAPHS)
    bullets = "".join(f"<li>{point}</li>" for point in POINTS)
    page = f"<html><body><h1>{TITLE}</h1>{paragraphs}<ol>{bullets}</ol></body></html>"
    body = paragraph(TITLE, "Title") + "".join(map(paragraph, (*PARAGRAPHS, *POINTS)))
    files = {
        "txt": f"{TITLE}\n\n{broken}\n\n{listed}\n".encode(),
        "md": f"# {TITLE}\n\n{text_of().replace('green', '**green**')}\n\n{pointed}\n".encode(),
        "html": page.encode(),
        "docx": make_docx(body),
        "pdf": as_pdf(),
    }
    paths = {}
    for kind, data in files.items():
        paths[kind] = folder / f"rules.{kind}"
        paths[kind].write_bytes(data)
    return paths


def read(path: Path) -> Comparable:
    found = extract(path)
    return Comparable(found.text, found.blocks, format=found.format)


def of(text: str, format: str = "txt") -> Comparable:
    return Comparable(text, format=format)


def kind_of(a: str, b: str) -> DuplicateKind | None:
    found = relate(of(a), of(b))
    return None if found is None else found.kind


# ---------------------------------------------------------------- equal texts


def test_same_paragraphs_in_five_formats_are_the_same_text(tmp_path: Path) -> None:
    texts = {kind: read(path) for kind, path in write_formats(tmp_path).items()}
    assert len({text.text for text in texts.values()}) == 1, {kind: text.listed() for kind, text in texts.items()}
    for one in texts.values():
        for other in texts.values():
            found = relate(one, other)
            assert found is not None
            assert found.kind is (DuplicateKind.TEXT if one is other else DuplicateKind.FORMAT)
            assert (found.similarity, found.missing_a, found.missing_b) == (1.0, 0, 0)


def test_furniture_and_page_numbers_are_no_text_of_the_document() -> None:
    text = "Head of the page\n\nAll the words that the letter really says to us\n\n3"
    blocks = (
        Block(0, 16, BlockKind.FURNITURE, page=3),
        Block(18, 65, page=3),
        Block(67, 68, page=3),
    )
    assert Comparable(text, blocks).text == of("all the words that the letter really says to us").text
    counted = Comparable(text, (*blocks[:2], Block(67, 68, page=4)))  # on page 4 a 3 is no page number
    assert counted.listed()[-1] == "3"


def test_text_that_is_all_furniture_is_still_compared() -> None:
    assert Comparable("Page one of two", (Block(0, 15, BlockKind.FURNITURE, page=1),)).total == 4


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The price is 1,5 for each of the eight good cups", "The price is 1.5 for each of the eight good cups"),
        ("The price is 15 for each of the eight good cups", "The price is 1 5 for each of the eight good cups"),
        ("It was -5 degrees in each of the eight cold rooms", "It was 5 degrees in each of the eight cold rooms"),
        ("[ ] one two three four five six seven ☐ eight", "[ ] one two three four five six seven ☑ eight"),
        ("Pay 30 $ for each of the eight good cups now", "Pay 30 € for each of the eight good cups now"),
        ("Il a signé le contrat avec le vendeur de la maison", "Il a signe le contrat avec le vendeur de la maison"),
        ("कि यह घर मेरा है और मैं यहाँ रहता हूँ", "की यह घर मेरा है और मैं यहाँ रहता हूँ"),
        ("ภาษาไทยเขียนโดยไม่มีช่องว่าง", "ภาษาไทยเขียนโดยไม้มีช่องว่าง"),
        ("whether x < y or not is what the whole proof needs", "whether x > y or not is what the whole proof needs"),
    ],
)
def test_small_signs_that_change_the_meaning_make_another_text(one: str, other: str) -> None:
    assert of(one).text != of(other).text
    assert kind_of(one, other) not in {DuplicateKind.TEXT, DuplicateKind.FORMAT}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Don’t say “it’s well-known”…", "DON'T SAY \"IT'S WELL-KNOWN\""),
        ("the well-\nknown exam-\n  ple of a word that we know", "the well-known example of a word that we know"),
        ("1. first\n2. second\n3. third", "• first\n• second\n• third"),
        ("Straße und Maß", "STRASSE UND MASS"),
        ("Title\n=====\n\nText", "Title\n\nText"),
        ("Cafe\u0301 au lait", "Café au lait"),
        ("It was \u22125 degrees and cost 1’000", "It was -5 degrees and cost 1'000"),
    ],
)
def test_case_marks_breaks_and_bullets_make_no_other_text(one: str, other: str) -> None:
    assert of(one).text == of(other).text


def test_number_at_the_beginning_of_a_wrapped_line_is_no_bullet() -> None:
    assert of("as we said in chapter\n5. Next comes").text == of("as we said in chapter 5. Next comes").text
    assert of("as we said in chapter\n5. Next comes").text != of("as we said in chapter\n6. Next comes").text


def test_program_code_is_compared_sign_by_sign() -> None:
    one, other = "def f(a, b):\n    return a+b*(a-b)\n", "def f(a, b):\n    return a-b*(a+b)\n"
    assert of(one).text == of(other).text  # as prose there is no difference
    assert of(one, "code").text != of(other, "code").text
    found = relate(of(one, "code"), of(other, "code"))
    assert found is None or found.kind is DuplicateKind.NEAR
    assert of(one, "code").text == of(one.replace("    ", "\t"), "code").text


def test_digest_is_of_all_words_though_fewer_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparable, "MOST_WORDS", 100)
    monkeypatch.setattr(comparable, "_CHUNK", 50)
    words = [f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300)]
    one, other = of(" ".join(words)), of(" ".join([*words[:-1], "otherwise"]))
    assert (len(one), one.total) == (100, 300)
    assert one.text != other.text
    found = relate(one, other)
    assert found is None  # a third was compared: no more than that is claimed
    same = relate(one, of("\n".join(words)))
    assert same is not None
    assert same.kind is DuplicateKind.TEXT
    assert len(missing_sentences(one, other)) == 1  # what lies behind the cut was not looked for


def test_text_is_the_same_wherever_it_is_cut_for_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = of(text_of())
    monkeypatch.setattr(comparable, "_CHUNK", 40)
    cut = of(text_of())
    assert (whole.text, whole.letters, whole.total) == (cut.text, cut.letters, cut.total)
    assert np.array_equal(whole.words, cut.words)


# ---------------------------------------------------------------- numbers


INVOICE = """Beck & Marsh Ltd, 4 Mill Road, Leeds LS1 4AB
Invoice No. BM-2024-0117
Date: 12 March 2024
To: Ada Moor, 17 Quarry Street, York

Description\tHours\tRate\tAmount
Repair of the boiler\t3\t48.00\t144.00
Travel\t1\t25.00\t25.00
Net total\t\t\t169.00
VAT 20 %\t\t\t33.80
Total\t\t\t£202.80

Please pay within 14 days to IBAN GB29 NWBK 6016 1331 9268 19. Thank you for your order."""


def test_two_invoices_differ_in_numbers_only() -> None:
    other = near(INVOICE, **{"0117": "0231", "12 March 2024": "3 September 2024", "202.80": "£1,014.00".strip("£"),
                             "169.00": "845.00", "33.80": "169.00", "144.00": "820.00", "\t3\t": "\t17\t"})  # fmt: skip
    found = relate(of(INVOICE), of(other))
    assert found is not None
    assert found.kind is DuplicateKind.NUMBERS
    assert 0.6 < found.similarity < 1
    assert found.missing_a > 0
    assert found.missing_b > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("12 March 2024", "3 June 2025"),
        ("March", "September"),
        ("£202.80", "€ 1.202,80"),
        ("BM-2024-0117", "BM-2025-0001"),
        ("GB29 NWBK 6016 1331 9268 19", "GB82 NWBK 1234 5698 7654 32"),
        ("14 days", "fourteen days"),
        ("17 Quarry", "18 Quarry"),
    ],
)
def test_dates_months_amounts_and_ids_are_numbers(old: str, new: str) -> None:
    assert kind_of(INVOICE, INVOICE.replace(old, new)) is DuplicateKind.NUMBERS


@pytest.mark.parametrize(("old", "new"), [("Ada Moor", "Ann Fell"), ("boiler", "roof"), ("NWBK", "BARC")])
def test_another_name_or_thing_is_more_than_a_number(old: str, new: str) -> None:
    assert kind_of(INVOICE, INVOICE.replace(old, new)) is DuplicateKind.NEAR


def test_tables_of_numbers_alone_are_no_pair() -> None:
    rng = random.Random(3)
    one, other = (" ".join(str(rng.randrange(10**6)) for _ in range(200)) for _ in range(2))
    assert kind_of(one, other) is None
    assert kind_of("name amount\n" + one, "name amount\n" + other) is None


# ---------------------------------------------------------------- near and contained


def test_share_of_words_is_that_of_the_longer_text() -> None:
    words = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}x" for n in range(100)]
    for changed in (1, 6, 20, 29):
        text = words.copy()
        for place in range(changed):
            text[place * 3 + 2] = f"new{chr(97 + place // 26)}{chr(97 + place % 26)}"
        found = relate(of(" ".join(words)), of(" ".join(text)))
        assert found is not None
        assert found.kind is DuplicateKind.NEAR
        assert found.similarity == pytest.approx(1 - changed / 100)
    found = relate(of(" ".join(words)), of(" ".join(words[:90])))
    assert found is not None
    assert (found.kind, found.similarity) == (DuplicateKind.NEAR, pytest.approx(0.9))


def test_moved_paragraph_is_shared() -> None:
    found = relate(of(text_of()), of(text_of(*PARAGRAPHS[3:], *PARAGRAPHS[:3])))
    assert found is not None
    assert (found.kind, found.similarity) == (DuplicateKind.NEAR, 1.0)
    assert (found.missing_a, found.missing_b) == (0, 0)


def test_paragraph_said_ten_times_is_not_the_paragraph() -> None:
    found = relate(of(PARAGRAPHS[0] + " "), of(text_of(*[PARAGRAPHS[0]] * 10)))
    assert found is not None
    assert found.kind is DuplicateKind.CONTAINED


def test_excerpt_is_contained_and_lacks_what_it_leaves_out() -> None:
    excerpt, whole = of(text_of(*PARAGRAPHS[1:3])), of(text_of())
    found = relate(excerpt, whole)
    assert found is not None
    assert (found.kind, found.similarity, found.smaller) == (DuplicateKind.CONTAINED, 1.0, 0)
    assert (found.missing_a, found.missing_b) == (0, 8)
    turned = relate(whole, excerpt)
    assert turned is not None
    assert turned == found.turned()
    assert turned.smaller == 1


def test_texts_with_a_paragraph_in_common_are_no_pair() -> None:
    ours, theirs = (
        text_of(PARAGRAPHS[0], PARAGRAPHS[1], PARAGRAPHS[2]),
        text_of(PARAGRAPHS[0], PARAGRAPHS[4], PARAGRAPHS[5]),
    )
    assert kind_of(ours, theirs) is None


@pytest.mark.parametrize("text", ["Thanks!", "See you on Monday then", "ok", "二月会议"])
def test_very_short_texts_are_duplicates_only_when_equal(text: str) -> None:
    assert kind_of(text, text.upper()) is DuplicateKind.TEXT
    assert kind_of(text, text + " yes") is None


def test_words_parted_otherwise_are_other_words_in_a_very_short_text() -> None:
    assert of("Now here").text != of("Nowhere").text


@pytest.mark.parametrize("text", ["", " \n\t", "... --- ***"])
def test_texts_without_words_are_never_a_pair(text: str) -> None:
    assert relate(of(text), of(text)) is None
    assert relate(of(text), of(text_of())) is None


def test_chinese_is_compared_sign_by_sign() -> None:
    text = "房屋规则：最后离开大楼的人必须关灯、关窗并锁门。自行车应停放在院子里，不得停放在走廊。客人最多可住十四晚。"
    assert kind_of(text, text.replace("，", ",").replace("。", "。\n")) is DuplicateKind.TEXT
    changed = relate(of(text), of(text.replace("院子", "花园")))
    assert changed is not None
    assert changed.kind is DuplicateKind.NEAR
    assert (changed.missing_a, changed.missing_b) == (1, 1)
    assert (
        kind_of(text, "昨天我们在市中心的一家小餐馆吃了晚饭，那里的鱼非常新鲜，服务员也很友好，下次还会再去。") is None
    )


def test_relation_is_the_same_from_both_sides() -> None:
    rng = random.Random(5)
    vocabulary = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("ara", "ola", "ine")] + ["7", "12", "March"]
    for _ in range(300):
        words = [rng.choice(vocabulary) for _ in range(rng.randrange(1, 60))]
        other = [rng.choice(vocabulary) if rng.random() < 0.15 else word for word in words]
        other = other[rng.randrange(3) :] + other[: rng.randrange(3)]
        one_text, other_text = (re.sub(r"(\S+ \S+ \S+ \S+) ", r"\1. ", " ".join(part)) for part in (words, other))
        found, turned = relate(of(one_text), of(other_text)), relate(of(other_text), of(one_text))
        assert (found is None) == (turned is None)
        assert found is None or turned == found.turned()


def test_common_order_is_the_longest_there_is() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        a, b = (rng.integers(0, 6, rng.integers(0, 25)).astype(np.uint64) for _ in range(2))
        table = np.zeros((len(a) + 1, len(b) + 1), int)
        for i in range(len(a)):
            for j in range(len(b)):
                table[i + 1, j + 1] = table[i, j] + 1 if a[i] == b[j] else max(table[i, j + 1], table[i + 1, j])
        assert in_order(a, b) == table[-1, -1]


def test_long_texts_take_the_same_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    a = rng.integers(0, 3000, 24_000).astype(np.uint64)
    b = a[rng.random(len(a)) > 0.3].copy()
    assert in_order(a, b) == len(b)
    assert in_order(b, a) == len(b)


def test_text_too_long_to_be_put_in_order_is_compared_by_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "_MOST_CELLS", 100)
    found = relate(of(text_of()), of(text_of().replace("caretaker", "janitor").replace("neighbours", "people")))
    assert found is not None
    assert found.kind is DuplicateKind.NEAR
    assert 0.95 < found.similarity < 1


# ---------------------------------------------------------------- what is missing


def lacked(a: str, b: str) -> list[str]:
    return [a[low:high].strip() for low, high in missing_sentences(of(a), of(b))]


def test_sentences_that_the_other_lacks_are_counted_and_shown() -> None:
    text = text_of()
    shorter = text.replace("Paper goes into the blue bin, glass into the container", "Glass goes into the container")
    assert lacked(text, shorter)[0].startswith("Paper goes")
    assert count_missing(of(text), of(shorter)) == (1, 1)
    assert count_missing(of(text), of(text + "\n\nOne more rule is added here.")) == (0, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [("14 nights", "41 nights"), ("12.50", "1250"), ("22:00", "23:00"), ("Tuesdays", "Mondays"), ("not in", "also in"),
     ("nobody takes", "everybody takes"), ("80 and 200", "80 and 2000")],
)  # fmt: skip
def test_sentence_with_another_number_or_word_is_lacked(old: str, new: str) -> None:
    text = text_of()
    assert old in text
    assert count_missing(of(text), of(text.replace(old, new))) == (1, 1)


def test_sentence_is_found_though_its_words_are_parted_otherwise() -> None:
    text = text_of()
    assert lacked(text, text.replace("well-known", "wellknown").replace("insurance", "insur- ance")) == []
    assert lacked("The team is able to do it.", "The team is un able to do it, they said.") == [
        "The team is able to do it."
    ]
    assert lacked("Able to do it at last.", "They were unable to do it at last.") == ["Able to do it at last."]
    assert lacked("They saw it at the even.", "They saw it at the evening.") == ["They saw it at the even."]
    assert lacked("They paid a total of 5.", "They paid a total of 50.") == ["They paid a total of 5."]


def test_slip_inside_a_long_word_is_let_pass_and_nothing_else() -> None:
    sentence = "The neighbours on both floors recieve the colour plan of the common room beforehand."
    assert lacked(sentence, sentence.replace("recieve", "receive")) == []
    assert lacked(sentence, sentence.replace("neighbours", "neighbors")) == []
    assert len(lacked(sentence, sentence.replace("recieve", "receive").replace("neighbours", "neighbors"))) == 1
    assert len(lacked("The employer pays for all of it, as both sides have agreed in this contract.",
                      "The employee pays for all of it, as both sides have agreed in this contract.")) == 1  # fmt: skip
    long = "Both of them will recieve the plan of the whole house and all rooms from the employer in the first week."
    assert lacked(long, long.replace("recieve", "receive")) == []
    assert len(lacked(long, long.replace("recieve", "receive").replace("employer", "employee"))) == 1
    assert len(lacked("A short one: recieve it.", "A short one: receive it.")) == 1


def test_rows_of_tables_and_lines_of_code_are_sentences() -> None:
    one, other = "name\tcity\nAnn\tYork\nBob\tLeeds", "name\tcity\nAnn\tYork\nBob\tRipon"
    blocks = (Block(0, len(one), BlockKind.TABLE),)
    assert [one[low:high].strip() for low, high in missing_sentences(Comparable(one, blocks), Comparable(other))] == [
        "Bob\tLeeds"
    ]


def test_missing_sentences_are_those_that_brute_force_misses() -> None:
    rng = random.Random(11)
    vocabulary = ["ta", "ne", "is", "me", "of", "5", "7", "go"]
    for _ in range(200):
        ours, theirs = (
            [[rng.choice(vocabulary) for _ in range(rng.randrange(1, 5))] for _ in range(rng.randrange(1, 12))]
            for _ in range(2)
        )
        one, other = (" ".join(" ".join(words).capitalize() + "." for words in text) for text in (ours, theirs))
        flat = " " + " ".join(" ".join(words) for words in theirs) + " "
        expected = sum(f" {' '.join(words)} " not in flat for words in ours)
        assert count_missing(of(one), of(other))[0] == expected, (one, other)


def test_text_without_marks_is_counted_in_pieces() -> None:
    rng = random.Random(12)
    words = ["".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(3)) for _ in range(5000)]
    text, other = " ".join(words), " ".join([*words[:2500], "otherwise", *words[2501:]])
    assert count_missing(of(text), of(other)) == (1, 1)
    assert 30 < len(of(text).sentences()) < 70
    assert "".join(text[low:high] for (low, high), _ in of(text).sentences()) == text


def test_abbreviations_end_no_sentence() -> None:
    text = "Ask Dr. Moor about it. He knows e.g. the plans of St. John's. That is all"
    assert [text[low:high].strip() for (low, high), _ in of(text).sentences()] == [
        "Ask Dr. Moor about it.", "He knows e.g. the plans of St. John's.", "That is all"]  # fmt: skip


# ---------------------------------------------------------------- fingerprints


def test_fingerprint_survives_the_disk_and_is_the_same_in_every_process() -> None:
    made = of(text_of()).fingerprint()
    read_back = Fingerprint.unpack(made.pack())
    assert (read_back.words, read_back.plain, read_back.text, read_back.letters) == (
        made.words, made.plain, made.text, made.letters)  # fmt: skip
    assert np.array_equal(read_back.sketch, made.sketch)
    assert of("one two three").fingerprint().text.hex() == "a7da22da939d5b5a04e0221d68eeb37c"
    with pytest.raises(ValueError, match="not a fingerprint"):
        Fingerprint.unpack(b"short")


def test_sketch_is_bounded() -> None:
    words = " ".join(f"w{n:x}".translate(str.maketrans("0123456789", "ghijklmnop")) for n in range(100_000))
    assert len(of(words).fingerprint().sketch) == 4096
    assert len(of(text_of()).fingerprint().sketch) == 64
    assert len(of("only four words here").fingerprint().sketch) == 2
