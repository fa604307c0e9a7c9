"""Groups of documents: no chains, no order of files, no explosion; folders and versions."""

from __future__ import annotations

import csv
import itertools
import json
import random
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.cleanup import DuplicateKind, Relation
from sbert_desktop.explore.candidates import MOST_PARTNERS, DocumentPairs, by_passages, by_sketches, document_cosine
from sbert_desktop.explore.comparable import Comparable
from sbert_desktop.explore.families import FamilyMember, read_family
from sbert_desktop.explore.grouping import Group, Kinship, group_key
from sbert_desktop.explore.kinship import find_relations
from sbert_desktop.explore.twin_folders import equal_folders
from tests.conftest import SHARED_DATA
from tests.effort import least_cpu
from tests.explore.made_snapshot import unit
from tests.explore.test_relations import INVOICE, write_formats
from tests.explore.test_relations import read as read_file

NEAR, TEXT, FORMAT, RELATED, NUMBERS, BYTES, CONTAINED = (
    DuplicateKind.NEAR, DuplicateKind.TEXT, DuplicateKind.FORMAT, DuplicateKind.RELATED, DuplicateKind.NUMBERS,
    DuplicateKind.BYTES, DuplicateKind.CONTAINED)  # fmt: skip


def kinship(count: int, *pairs: tuple, texts=None, formats=None) -> Kinship:
    made = [Relation(a, b, kind, similarity) for a, b, kind, similarity in pairs]
    return Kinship(texts or list(range(count)), formats or ["txt"] * count, made)


def units(groups: list[Group]) -> list[tuple[int, ...]]:
    return [group.units for group in groups]


def vocabulary(rng: random.Random, count: int = 400) -> list[str]:
    return ["".join(rng.choice("bcdfghklmnprst") + rng.choice("aeiou") for _ in range(3)) for _ in range(count)]


def prose(rng: random.Random, words: list[str], count: int) -> str:
    return " ".join(rng.choice(words) + ("." if n % 12 == 11 else "") for n in range(count))


def find(texts: dict[str, str], formats: dict[str, str] | None = None, near=None) -> tuple[list[str], Kinship]:
    names = sorted(texts)
    read = [Comparable(texts[name], format=(formats or {}).get(name, "txt")) for name in names]
    found = find_relations(
        [text.fingerprint() for text in read], [text.format for text in read], read.__getitem__, near
    )
    return names, found


# ---------------------------------------------------------------- groups


def test_chain_is_no_group() -> None:
    found = kinship(3, (0, 1, NEAR, 0.9), (1, 2, NEAR, 0.95)).group([1, 1, 1])
    assert found == [Group((1, 2), NEAR, 0.95)]


def test_group_shows_its_weakest_kind_and_its_lowest_similarity() -> None:
    found = kinship(3, (0, 1, NEAR, 0.99), (1, 2, NEAR, 0.95), (0, 2, CONTAINED, 0.91)).group([1, 1, 1])
    assert found == [Group((0, 1, 2), CONTAINED, 0.91)]


def test_threshold_cuts_near_and_related_and_spares_numbers() -> None:
    made = kinship(6, (0, 1, NEAR, 0.85), (2, 3, RELATED, 0.85), (4, 5, NUMBERS, 0.6))
    assert units(made.group([1] * 6)) == [(0, 1), (2, 3), (4, 5)]
    assert units(made.group([1] * 6, near=0.9)) == [(2, 3), (4, 5)]
    assert units(made.group([1] * 6, related=0.9)) == [(0, 1), (4, 5)]
    assert units(made.group([1] * 6, near=0.85, related=0.85)) == [(0, 1), (2, 3), (4, 5)]


def test_cut_uses_only_its_kinds() -> None:
    made = kinship(
        8, (0, 1, NEAR, 0.85), (2, 3, RELATED, 0.85), texts=[0, 1, 2, 3, 4, 4, 6, 6], formats=["txt"] * 7 + ["pdf"]
    )
    files = [1, 1, 1, 2, 1, 1, 1, 1]
    assert units(made.group(files, (BYTES,))) == [(3,)]
    assert units(made.group(files, (NEAR,))) == [(0, 1)]
    assert made.group(files, (TEXT, FORMAT)) == [Group((4, 5), TEXT, 1.0), Group((6, 7), FORMAT, 1.0)]
    assert units(made.group(files, (TEXT,))) == [(4, 5)]
    assert units(made.group(files, (RELATED,))) == [(2, 3)]
    assert units(made.group(files)) == [(0, 1), (3,), (4, 5), (6, 7)]  # 3 is grouped by its bytes already


def test_related_joins_nothing_that_a_stronger_kind_has_grouped() -> None:
    made = kinship(4, (0, 1, NEAR, 0.85), (1, 2, RELATED, 0.99), (0, 2, RELATED, 0.99), (2, 3, RELATED, 0.9))
    assert units(made.group([1] * 4)) == [(0, 1), (2, 3)]
    assert units(made.group([1] * 4, (RELATED,))) == [(0, 2)]
    assert units(made.group([1, 1, 1, 2])) == [(0, 1), (3,)]  # 3 has copies of its own
    assert units(made.group([1, 1, 1, 2], (NEAR, RELATED))) == [(0, 1), (2, 3)]
    texts = kinship(3, (0, 2, RELATED, 0.99), texts=[0, 0, 2])
    assert units(texts.group([1] * 3)) == [(0, 1)]
    assert units(texts.group([1] * 3, (RELATED,))) == [(0, 1, 2)]


def test_units_without_files_take_no_part() -> None:
    made = kinship(4, (0, 2, NEAR, 0.9), (2, 3, NEAR, 0.9), (0, 3, NEAR, 0.8), texts=[0, 0, 2, 3])
    assert units(made.group([1, 1, 1, 1])) == [(0, 1, 2, 3)]
    assert units(made.group([0, 1, 1, 1])) == [(1, 2, 3)]  # the text lives on in its second unit
    assert units(made.group([0, 0, 1, 1])) == [(2, 3)]
    assert units(made.group([1, 0, 0, 0])) == []


def test_pairs_that_are_no_duplicates_are_never_together() -> None:
    made = kinship(3, (0, 1, NEAR, 0.99), (0, 2, NEAR, 0.9), (1, 2, NEAR, 0.9))
    assert units(made.group([1] * 3, excluded={(0, 1)})) == [(0, 2)]
    assert units(made.group([1] * 3, excluded={(1, 0), (2, 0)})) == [(1, 2)]
    same = kinship(5, (0, 4, NEAR, 0.9), texts=[0, 0, 0, 0, 4])
    assert units(same.group([1] * 5, excluded={(0, 1)})) == [(0, 2, 3, 4)]
    assert units(same.group([1] * 5, excluded={(0, 1), (2, 0), (3, 0)})) == [(0, 4), (1, 2, 3)]
    assert units(same.group([1] * 5, excluded={(3, 4)})) == [(0, 1, 2, 3)]


def brute_force_is_valid(made: Kinship, groups: list[Group], files, kinds, near, related, excluded) -> None:
    seen = set()
    for group in groups:
        assert not seen & set(group.units)
        seen |= set(group.units)
        if len(group.units) == 1:
            assert files[group.units[0]] > 1
            continue
        held = []
        for a, b in itertools.combinations(group.units, 2):
            found = made.between(a, b)
            assert found is not None, (group, a, b)
            assert (a, b) not in excluded
            assert (b, a) not in excluded
            assert files[a] > 0
            assert files[b] > 0
            assert found.kind in kinds or found.kind in {TEXT, FORMAT}
            if found.kind in {NEAR, CONTAINED}:
                assert found.similarity >= near
            if found.kind is RELATED:
                assert found.similarity >= related
            held.append(found)
        assert group.lowest == min(found.similarity for found in held)
        assert group.kind.rank == max(found.kind.rank for found in held)


def random_case(rng: random.Random) -> tuple[int, list[Relation], list[int], list[str]]:
    count = rng.randrange(2, 25)
    texts = [number if rng.random() < 0.7 else rng.randrange(number + 1) for number in range(count)]
    texts = [texts[text] if texts[text] == text else number for number, text in enumerate(texts)]
    firsts = sorted({text for number, text in enumerate(texts) if text == number})
    pairs = [pair for pair in itertools.combinations(firsts, 2) if rng.random() < 0.4]
    kinds = (NEAR, CONTAINED, NUMBERS, RELATED)
    made = [Relation(a, b, rng.choice(kinds), rng.choice((0.7, 0.8, 0.85, 0.9, 1.0))) for a, b in pairs]
    return count, made, texts, [rng.choice(("txt", "pdf")) for _ in range(count)]


def test_every_two_of_a_group_are_related_whatever_is_cut() -> None:
    rng = random.Random(1)
    for _ in range(400):
        count, relations, texts, formats = random_case(rng)
        made = Kinship(texts, formats, relations)
        files = [rng.choice((0, 1, 1, 1, 2)) for _ in range(count)]
        kinds = tuple(kind for kind in DuplicateKind if rng.random() < 0.7)
        near, related = rng.choice((0.7, 0.8, 0.9)), rng.choice((0.7, 0.9))
        excluded = {tuple(rng.sample(range(count), 2)) for _ in range(rng.randrange(4))}
        groups = made.group(files, kinds, near, related, excluded)
        brute_force_is_valid(made, groups, files, kinds, near, related, excluded)
        assert Kinship.unpack(made.pack()).group(files, kinds, near, related, excluded) == groups


def test_groups_do_not_depend_on_the_order_in_which_relations_were_found() -> None:
    rng = random.Random(2)
    for _ in range(100):
        count, relations, texts, formats = random_case(rng)
        expected = Kinship(texts, formats, relations).group([1] * count)
        rng.shuffle(relations)
        turned = [r if rng.random() < 0.5 else Relation(r.b, r.a, r.kind, r.similarity) for r in relations]
        assert Kinship(texts, formats, turned).group([1] * count) == expected


def test_no_pair_of_groups_could_have_been_one() -> None:
    rng = random.Random(4)
    for _ in range(100):
        count, relations, texts, formats = random_case(rng)
        relations = [relation for relation in relations if relation.kind is not RELATED]
        made = Kinship(texts, formats, relations)
        parts = units(made.group([1] * count, near=0.7))
        parts += [(unit,) for unit in range(count) if not any(unit in part for part in parts)]
        for one, other in itertools.combinations(parts, 2):
            assert any(made.between(a, b) is None for a in one for b in other)


def test_relation_of_two_units_names_its_sides() -> None:
    made = Kinship([0, 1, 0], ["txt", "txt", "pdf"], [Relation(0, 1, CONTAINED, 0.9, 0, 7, 0)])
    assert made.between(0, 1) == Relation(0, 1, CONTAINED, 0.9, 0, 7, 0)
    assert made.between(1, 0) == Relation(0, 1, CONTAINED, 0.9, 0, 7, 0)
    assert made.between(2, 1) == Relation(1, 2, CONTAINED, 0.9, 7, 0, 2)
    assert made.between(0, 2) == Relation(0, 2, FORMAT, 1.0)
    assert made.between(1, 1) == Relation(1, 1, BYTES, 1.0)
    assert kinship(3, (0, 1, NEAR, 0.9)).between(1, 2) is None
    read_back = Kinship.unpack(made.pack())
    assert read_back.between(2, 1) == made.between(2, 1)
    with pytest.raises(ValueError, match="no relations"):
        Kinship.unpack(b"nothing")


def test_key_is_that_of_the_files() -> None:
    assert group_key(["b", "a"]) == group_key(["a", "b"])
    assert group_key(["a", "b"]) != group_key(["a", "c"])
    assert group_key(["ab"]) != group_key(["a", "b"])


def test_slider_answers_at_once() -> None:
    rng = random.Random(3)
    count, size = 8_000, 12
    pairs: dict[tuple[int, int], Relation] = {}
    kinds = (NEAR, CONTAINED, NUMBERS, RELATED)
    while len(pairs) < 40_000:
        start = rng.randrange(count // size) * size
        a, b = sorted(rng.sample(range(start, start + size), 2))
        pairs[a, b] = Relation(a, b, rng.choice(kinds), rng.uniform(0.7, 1))
    made = Kinship(list(range(count)), ["txt"] * count, pairs.values())
    assert made.group(np.ones(count, np.int64), near=0.7)
    assert least_cpu(lambda: made.group(np.ones(count, np.int64), near=0.8), enough=0.4) < 0.4  # about 0.05 s


# ---------------------------------------------------------------- candidates


def test_documents_near_by_meaning_are_pairs_by_their_best_passages() -> None:
    rng = np.random.default_rng(5)
    vectors = unit(rng, 40)
    owners = np.repeat(np.arange(10), 4)
    lengths = rng.integers(50, 2000, 40)
    for row in range(8, 16):  # document 2 and 3 say again, in other words, what 0 and 1 say
        vectors[row] = vectors[row - 8] + 0.05 * rng.standard_normal(16)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T
    a, b = np.nonzero(np.triu(cosines >= 0.7, 1))
    found = by_passages(a.astype(np.int32), b.astype(np.int32), cosines[a, b], owners, lengths)
    assert list(zip(found.a.tolist(), found.b.tolist(), strict=True)) == [(0, 2), (1, 3)]
    for one, other, value in zip(found.a, found.b, found.cosine, strict=True):
        mine, theirs = owners == one, owners == other
        exact = document_cosine(vectors[mine], lengths[mine], vectors[theirs], lengths[theirs])
        best = cosines[np.ix_(mine, theirs)]
        expected = min(np.average(best.max(1), weights=lengths[mine]), np.average(best.max(0), weights=lengths[theirs]))
        assert exact == pytest.approx(expected, abs=1e-6)
        assert value == pytest.approx(exact, abs=1e-6)


def test_cosine_of_single_passages_is_that_of_their_vectors() -> None:
    vectors = unit(np.random.default_rng(6), 2)
    one = np.array([7])
    assert document_cosine(vectors[:1], one, vectors[1:], one) == pytest.approx(
        float(vectors[0] @ vectors[1]), abs=1e-6
    )
    assert document_cosine(vectors[:0], one[:0], vectors, np.array([1, 1])) == 0.0


def test_passage_shared_by_two_documents_is_no_pair_of_documents() -> None:
    owners, lengths = np.array([0, 0, 1, 1]), np.array([400, 600, 400, 600])
    found = by_passages(np.array([0]), np.array([2]), np.array([1.0], np.float32), owners, lengths)
    assert len(found) == 0
    found = by_passages(np.array([1]), np.array([3]), np.array([1.0], np.float32), owners, lengths)
    assert found.cosine.tolist() == [pytest.approx(0.6)]


def test_rows_with_equal_vectors_are_pairs_of_all_their_documents() -> None:
    owners = np.array([0, 1, 2, -1, 3])
    twins = np.array([0, 0, 0, 0, 4])
    found = by_passages(np.array([0]), np.array([4]), np.array([0.8], np.float32), owners, np.full(5, 10), twins=twins)
    pairs = dict(zip(zip(found.a.tolist(), found.b.tolist(), strict=True), found.cosine.tolist(), strict=True))
    assert pairs == {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0} | {(n, 3): pytest.approx(0.8) for n in range(3)}


def test_disclaimer_in_all_mails_makes_no_millions_of_pairs() -> None:
    count = 5000
    owners = np.repeat(np.arange(count), 2)
    twins = np.arange(2 * count)
    twins[::2] = 0  # the first passage of each is the same
    lengths = np.tile([600, 500], count)
    found = by_passages(
        np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32), owners, lengths, twins=twins
    )
    assert len(found) <= count * MOST_PARTNERS
    rng = random.Random(7)
    words = vocabulary(rng, 3000)
    disclaimer = prose(rng, words, 80)
    prints = [
        Comparable(prose(rng, words, rng.randrange(20, 60)) + ". " + disclaimer).fingerprint() for _ in range(1500)
    ]
    pairs = by_sketches(prints)
    assert len(pairs) <= 1500 * MOST_PARTNERS
    assert pairs.cut > 0


def test_reworded_copies_and_excerpts_are_found_without_vectors() -> None:
    rng = random.Random(8)
    words = vocabulary(rng)
    texts = {f"{n:03}": prose(rng, words, rng.randrange(30, 400)) for n in range(120)}
    expected = set()
    for n in range(40):
        source = texts[f"{n:03}"].split()
        changed = [rng.choice(words) if rng.random() < 0.12 else word for word in source]
        texts[f"{n:03} again"] = " ".join(changed)
        expected.add((f"{n:03}", f"{n:03} again"))
    for n in range(40, 60):
        source = (texts[f"{n:03}"] + " " + prose(rng, words, 200)).split()
        texts[f"{n:03}"] = " ".join(source)
        start = rng.randrange(len(source) - 100)
        texts[f"{n:03} excerpt"] = " ".join(source[start : start + 100])
        expected.add((f"{n:03}", f"{n:03} excerpt"))
    names, made = find(texts)
    found = {tuple(names[u] for u in group.units) for group in made.group([1] * len(names), near=0.7)}
    assert len(expected & found) >= 59  # one in sixty may have lost more than a third of its words by chance
    assert not found - expected


def test_texts_of_one_form_come_in_groups_of_64() -> None:
    rng = random.Random(9)
    form = "Dear customer, your order {} was sent on {} and will be with you in {} days. We thank you for your trust."
    texts = {
        f"{n:05}": form.format(10_000 + n, f"{rng.randrange(1, 28)} May 2024", rng.randrange(2, 9)) for n in range(200)
    }
    names, made = find(texts)
    groups = made.group([1] * len(names))
    assert {group.kind for group in groups} == {NUMBERS}
    assert [len(group.units) for group in groups] == [64, 64, 64, 8]


def test_5000_equal_texts_are_one_group_and_no_pairs() -> None:
    texts = {f"{n:05}": "The same eight words stand in all of them" + " " * (n % 7) for n in range(5000)}
    names, made = find(texts)
    assert made.relations == 0
    assert made.group([1] * 5000) == [Group(tuple(range(5000)), TEXT, 1.0)]
    assert made.between(3, 4000) == Relation(3, 4000, TEXT, 1.0)
    assert len(names) == 5000


def test_texts_without_words_are_no_group() -> None:
    names, made = find({f"{n:05}": " \n" * (n % 3) for n in range(5000)})
    assert made.group([1] * len(names)) == []
    assert Kinship([-1] * 3, [""] * 3, []).group([1, 2, 1]) == [Group((1,), BYTES, 1.0)]
    assert find_relations([None, None], ["", ""], lambda _: None).group([1, 1]) == []
    assert find_relations([], [], lambda _: None).group([]) == []


def test_related_is_claimed_only_where_the_words_say_nothing_stronger() -> None:
    rng = random.Random(10)
    words = vocabulary(rng)
    text = prose(rng, words, 100)
    texts = {"a": text, "b": text.replace(words[0], words[1]) + " and more", "c": prose(rng, words, 90), "d": "Thanks!"}
    pairs = DocumentPairs(np.array([0, 0, 0, 1]), np.array([1, 2, 3, 2]), np.array([0.9, 0.9, 0.99, 0.6], np.float32))
    _, made = find(texts, near=pairs)
    kinds = {(a, b): found.kind for a, b in itertools.combinations(range(4), 2) if (found := made.between(a, b))}
    assert kinds == {(0, 1): NEAR, (0, 2): RELATED}  # "Thanks!" is too short, 0.6 too little
    related = made.between(0, 2)
    assert related is not None
    assert (related.similarity, related.missing_a, related.missing_b) == (pytest.approx(0.9), -1, -1)


def test_texts_that_share_no_words_are_not_read() -> None:
    rng = random.Random(14)
    words = vocabulary(rng, 3000)
    read = [Comparable(prose(rng, words, rng.choice((50, 100)))) for _ in range(40)]
    read.append(Comparable(" ".join(read[0].listed()) + " and more"))
    asked: list[int] = []

    def load(number: int) -> Comparable:
        asked.append(number)
        return read[number]

    a, b = (np.array(side) for side in zip(*itertools.combinations(range(41), 2), strict=True))
    near = DocumentPairs(a, b, np.full(len(a), 0.9, np.float32))
    made = find_relations([one.fingerprint() for one in read], ["txt"] * 41, load, near)
    assert sorted(asked) == [0, 40]
    assert made.relations == len(a)
    found = made.between(0, 40)
    assert found is not None
    assert found.kind is NEAR


def test_text_that_is_gone_is_in_no_relation() -> None:
    rng = random.Random(11)
    words = vocabulary(rng)
    text = prose(rng, words, 100)
    read = [Comparable(text), Comparable(text + " and more")]
    prints = [one.fingerprint() for one in read]
    assert find_relations(prints, ["txt"] * 2, read.__getitem__).relations == 1
    assert find_relations(prints, ["txt"] * 2, lambda n: read[n] if n else None).relations == 0


def test_progress_is_told_and_may_end_it() -> None:
    rng = random.Random(12)
    words = vocabulary(rng)
    text = prose(rng, words, 100)
    read = [Comparable(text + f" {words[n]}") for n in range(4)]
    steps: list[tuple[int, int]] = []
    find_relations(
        [one.fingerprint() for one in read], ["txt"] * 4, read.__getitem__, on_step=lambda *at: steps.append(at)
    )
    assert steps == [(n, 6) for n in range(7)]

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_relations([one.fingerprint() for one in read], ["txt"] * 4, read.__getitem__, on_step=stop)


def test_one_text_in_five_formats_is_one_group(tmp_path: Path) -> None:
    read = [read_file(path) for _, path in sorted(write_formats(tmp_path).items())]
    read.append(
        Comparable(read[0].format + " is a format of its own, and what is said here nobody else says anywhere.")
    )
    made = find_relations([one.fingerprint() for one in read], [one.format for one in read], read.__getitem__)
    assert made.group([1] * 6) == [Group((0, 1, 2, 3, 4), FORMAT, 1.0)]


def test_two_invoices_are_a_group_whose_numbers_differ() -> None:
    other = INVOICE.replace("0117", "0231").replace("12 March", "3 September").replace("202.80", "1,014.00")
    _, made = find({"a": INVOICE, "b": other})
    groups = made.group([1, 1])
    assert [(group.units, group.kind) for group in groups] == [((0, 1), NUMBERS)]
    assert groups[0].lowest > 0.8


# ---------------------------------------------------------------- known collections


@pytest.fixture
def articles() -> tuple[dict[str, str], set[frozenset[str]]]:
    folder = SHARED_DATA / "pairs" / "neardup_articles_1000"
    if not folder.is_dir():
        pytest.skip("the shared data are not here")
    with (folder / "docs.jsonl").open(encoding="utf-8") as lines:
        texts = {row["_id"]: row["text"] for row in map(json.loads, lines)}
    with (folder / "truth.tsv").open(encoding="utf-8", newline="") as lines:
        truth = {frozenset((row["doc1"], row["doc2"])) for row in csv.DictReader(lines, delimiter="\t")}
    return texts, truth


def test_planted_near_duplicates_are_found_and_no_others(articles) -> None:
    texts, truth = articles
    names, made = find(texts)
    found = made.group([1] * len(names))
    assert {frozenset(names[u] for u in group.units) for group in found} == truth
    assert {group.kind for group in found} == {NEAR}


def test_equal_articles_are_found_and_none_else_claimed_equal() -> None:
    folder = SHARED_DATA / "clustering"
    if not folder.is_dir():
        pytest.skip("the shared data are not here")
    texts = {path.relative_to(folder / "bbc_news").as_posix(): path.read_bytes().decode("utf-8", "replace")
             for path in (folder / "bbc_news").glob("*/*.txt")}  # fmt: skip
    groups: dict[str, set[str]] = {}
    with (folder / "bbc_news_exact_duplicates.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            groups.setdefault(row["group"], set()).add(row["file"])
    names, made = find(texts)
    number = {name: place for place, name in enumerate(names)}
    for files in groups.values():
        for one, other in itertools.combinations(sorted(files), 2):
            found = made.between(number[one], number[other])
            assert found is not None
            assert found.kind is TEXT
    squeezed = ["".join(sign for sign in texts[name].casefold() if sign.isalnum()) for name in names]
    for group in made.group([1] * len(names), (TEXT, FORMAT)):
        assert len({squeezed[unit] for unit in group.units}) == 1  # nothing but case and marks differs


# ---------------------------------------------------------------- folders


def folders(*files: tuple[str, str]) -> list[tuple[str, ...]]:
    return [tuple(path.as_posix() for path in group) for group in equal_folders((Path(p), sha) for p, sha in files)]


def test_folders_with_the_same_files_under_other_names_are_one_row() -> None:
    assert folders(("x/a/1", "s1"), ("x/a/2", "s2"), ("y/b/two", "s2"), ("y/b/one", "s1"), ("x/rest", "s3")) == [
        ("x/a", "y")
    ]
    assert folders(("x/a/1", "s1"), ("x/a/2", "s2"), ("y/b/1", "s1"), ("y/b/2", "s2"), ("y/b/3", "s3")) == []
    assert folders(("x/a/1", "s1"), ("x/a/2", "s1"), ("x/b/1", "s1"), ("x/b/2", "s2")) == []


def test_single_files_and_unknown_files_make_no_equal_folders() -> None:
    assert folders(("a/1", "s1"), ("b/1", "s1")) == []
    assert folders(("a/1", "s1"), ("a/2", ""), ("b/1", "s1"), ("b/2", "")) == []
    assert folders(("a/1", "s1"), ("a/2", "s1"), ("b/1", "s1"), ("b/2", "s1")) == [("a", "b")]


def test_only_the_topmost_folders_are_told() -> None:
    tree = [("{}/p/1", "s1"), ("{}/p/2", "s2"), ("{}/q/3", "s3"), ("{}/q/4", "s4"), ("{}/5", "s5")]
    files = [(path.format(root), sha) for root in ("old", "new") for path, sha in tree]
    assert folders(*files) == [("new", "old")]
    third = [("third/1", "s1"), ("third/2", "s2")]  # new/p and old/p are told with new and old
    assert folders(*files, *third) == [("new", "old")]


def test_folder_is_not_equal_to_what_it_lies_in() -> None:
    assert folders(("a/b/c/1", "s1"), ("a/b/c/2", "s2")) == []
    assert folders(("a/b/c/1", "s1"), ("a/b/c/2", "s2"), ("d/1", "s1"), ("d/2", "s2")) == [("a", "d")]


def test_equal_folders_do_not_depend_on_the_order_of_files() -> None:
    rng = random.Random(13)
    for _ in range(50):
        files = [
            (f"{rng.choice('ab')}/{rng.choice('pq')}/{rng.choice('xy')}/{n}", f"s{rng.randrange(3)}") for n in range(14)
        ]
        expected = folders(*files)
        rng.shuffle(files)
        assert folders(*files) == expected


# ---------------------------------------------------------------- versions


def family(*members: tuple[str, float], dates: tuple[float | None, ...] | None = None):
    return read_family([FamilyMember(name, dates[n] if dates else None, written)
                        for n, (name, written) in enumerate(members)])  # fmt: skip


DAY = 86_400.0


@pytest.mark.parametrize(
    ("names", "newest", "words"),
    [
        (("Offer v1.docx", "Offer v3.docx", "Offer v2.docx"), 1, "newest of 3 by name (v3)"),
        (("Offer v10.docx", "Offer v9.docx"), 0, "newest of 2 by name (v10)"),
        (("Offer final.docx", "Offer draft 3.docx"), 0, "newest of 2 by name (final)"),
        (("Offer.docx", "Offer v2.docx"), 1, "newest of 2 by name (v2)"),
        (("Offer.docx", "Offer_old.docx"), 0, "newest of 2 by name (the others: old)"),
        (("Minutes 2024-05-06.pdf", "Minutes 2023-11-02.pdf"), 0, "newest of 2 by name (2024-05-06)"),
    ],
)
def test_names_tell_the_newest_version(names, newest, words) -> None:
    found = family(*((name, 100 * DAY) for name in names))
    assert found is not None
    assert (found.newest, found.words) == (newest, words)


def test_dates_tell_where_names_do_not() -> None:
    found = family(("Offer.docx", 100 * DAY), ("Offer (1).docx", 101 * DAY))
    assert found is not None
    assert found.newest == 1
    assert found.words.startswith("newest of 2 by date (changed 1970-04-1")
    found = family(("a.docx", 100 * DAY), ("b.docx", 101 * DAY), dates=(400 * DAY, 300 * DAY))
    assert found is not None
    assert found.newest == 0
    assert found.words.startswith("newest of 2 by date (dated 1971-02-0")
    found = family(("Offer.docx", 103 * DAY), ("Offer v2.docx", 101 * DAY))  # worked on after v2 was put aside
    assert found is not None
    assert found.newest == 0


def test_copies_made_at_once_are_no_versions() -> None:
    assert family(("Offer.docx", 100.0), ("Offer (1).docx", 101.0)) is None
    assert family(("Offer.docx", 100.0)) is None
