"""Rules decide which copy stays; what must not be ticked is not, and says why."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import pytest

from sbert_desktop.cleanup import Assistant, Copy, DuplicateKind, Relation, Rule, RuleKind
from sbert_desktop.errors import UsageError
from sbert_desktop.explore.choosing import choose, format_rules, names_a_copy, parse_rules

K = DuplicateKind


def _copy(path, unit=0, *, mtime=0, size=10, **more) -> Copy:
    return Copy(unit, Path(path), size, mtime, 1, zlib.crc32(path.encode()) + 1, f"sha{unit}", **more)


def _same(a, b):
    return None


def _related(kind, *, missing_a=0, missing_b=0, similarity=0.9):
    def relate(a, b):
        low, high = min(a, b), max(a, b)
        missing = (missing_a, missing_b) if a < b else (missing_b, missing_a)
        one, other = (low, high) if a < b else (high, low)
        return Relation(one, other, kind, similarity, *missing)

    return relate


def _assistant(*rules, **more) -> Assistant:
    return Assistant(tuple(Rule(one) if isinstance(one, RuleKind) else one for one in rules), **more)


@pytest.mark.parametrize(
    ("rule", "kept", "reason"),
    [
        (Rule(RuleKind.NEWEST), "/b/deep/new.txt", "newest"),
        (Rule(RuleKind.OLDEST), "/a/old.txt", "oldest"),
        (Rule(RuleKind.SHORTEST_PATH), "/a/old.txt", "shortest path"),
        (Rule(RuleKind.IN_FOLDER, Path("/b")), "/b/deep/new.txt", "in /b"),
        (Rule(RuleKind.NOT_IN_FOLDER, Path("/b")), "/a/old.txt", "not in /b"),
    ],
)
def test_the_first_rule_that_tells_copies_apart_decides_and_is_named(rule, kept, reason):
    members = [_copy("/b/deep/new.txt", mtime=9), _copy("/a/old.txt", mtime=1)]
    chosen = choose(members, _assistant(rule), _same)
    assert [(str(m.path), c.reason) for m, c in zip(members, chosen, strict=True) if c.keep] == [(kept, reason)]
    assert [c.ticked for c in chosen] == [not c.keep for c in chosen]


def test_a_rule_that_sees_no_difference_leaves_it_to_the_next():
    members = [_copy("/a/x (1).txt", mtime=5), _copy("/a/x.txt", mtime=5), _copy("/a/y.txt", mtime=5)]
    chosen = choose(members, _assistant(RuleKind.NEWEST, RuleKind.NO_COPY_NAME, RuleKind.SHORTEST_PATH), _same)
    assert [c.keep for c in chosen] == [False, True, False]
    assert chosen[0].reason == "name says copy"


def test_the_order_of_the_files_does_not_matter():
    rng = random.Random(3)
    members = [_copy(f"/d/{n % 3}/{n}.txt", n % 2, mtime=n % 4, size=5 + n % 2) for n in range(8)]
    wanted = None
    for _ in range(30):
        rng.shuffle(members)
        chosen = choose(members, Assistant(kinds=(K.BYTES, K.TEXT)), _related(K.TEXT))
        outcome = {(m.path, c.keep, c.ticked) for m, c in zip(members, chosen, strict=True)}
        wanted = wanted or outcome
        assert outcome == wanted


def test_by_default_only_identical_bytes_are_ticked():
    members = [_copy("/a.txt", 0, mtime=9), _copy("/b.txt", 0), _copy("/c.txt", 1, mtime=5), _copy("/d.txt", 1)]
    for kind in (K.TEXT, K.FORMAT, K.NEAR, K.CONTAINED, K.NUMBERS, K.RELATED):
        chosen = choose(members, Assistant(), _related(kind))
        assert [c.ticked for c in chosen] == [False, True, False, True], kind
        assert all(choose(members, Assistant(), _related(kind))[n].may_tick for n in range(4))


def test_further_kinds_are_ticked_when_asked_but_numbers_and_related_never():
    members = [_copy("/a.txt", 0, mtime=9), _copy("/b.txt", 1)]
    every = Assistant(kinds=tuple(DuplicateKind))
    for kind in DuplicateKind:
        chosen = choose(members, every, _related(kind))
        assert chosen[1].ticked is (kind not in (K.NUMBERS, K.RELATED)), kind
    assert choose(members, every, _related(K.NUMBERS))[1].warning == "numbers differ"


def test_a_file_with_sentences_that_the_kept_one_lacks_is_left_alone_and_says_so():
    every = Assistant((Rule(RuleKind.NEWEST),), kinds=tuple(DuplicateKind))
    kept, other = _copy("/a.txt", 0, mtime=9), _copy("/b.txt", 1)
    lacks = _related(K.NEAR, missing_b=3)
    assert choose([kept, other], every, lacks)[1].warning == "3 sentences that the kept file lacks"
    assert not choose([kept, other], every, lacks)[1].ticked
    assert choose([kept, other], every, _related(K.NEAR, missing_a=3))[1].ticked
    assert choose([kept, other], every, _related(K.NEAR, missing_b=-1))[1].warning == "not compared to its end"
    turned = choose([_copy("/a.txt", 0), _copy("/b.txt", 1, mtime=9)], every, _related(K.NEAR, missing_b=1))
    assert [(c.keep, c.ticked) for c in turned] == [(False, True), (True, False)]


def test_signed_files_are_never_ticked():
    members = [_copy("/a.pdf", mtime=9, signed=True), _copy("/b.pdf", signed=True)]
    chosen = choose(members, Assistant(), _same)
    assert [(c.ticked, c.warning) for c in chosen] == [(False, "signed"), (False, "signed")]
    assert chosen[1].may_tick, "the person may"


def test_what_lies_in_containers_is_neither_kept_nor_ticked():
    members = [_copy("/box.zip", member="a.txt", mtime=99), _copy("/mail.mbox", member="1/a.txt")]
    chosen = choose(members, Assistant(), _same)
    assert not any(c.keep or c.ticked or c.may_tick for c in chosen)
    chosen = choose([*members, _copy("/a.txt")], Assistant(), _same)
    assert [c.keep for c in chosen] == [False, False, True]


def test_hard_links_are_no_copies():
    chosen = choose([_copy("/a.txt"), _copy("/b.txt", linked=True)], Assistant(), _same)
    assert [(c.keep, c.ticked, c.may_tick) for c in chosen] == [(True, False, True), (False, False, False)]


def test_protected_folders_keep_all_and_are_preferred():
    guard = Assistant((Rule(RuleKind.NEWEST),), protected=(Path("/safe"),))
    members = [_copy("/safe/a.txt"), _copy("/safe/b.txt"), _copy("/c.txt", mtime=9)]
    chosen = choose(members, guard, _same)
    assert [(c.ticked, c.may_tick) for c in chosen] == [(False, False), (False, False), (True, True)]
    assert chosen[0].keep
    assert chosen[0].reason == "in a protected folder"


def test_ticks_can_be_kept_to_some_folders_and_turned_around():
    members = [_copy("/a/x.txt", mtime=9), _copy("/b/x.txt", mtime=5), _copy("/c/x.txt", mtime=1)]
    only = _assistant(RuleKind.NEWEST, only_in=(Path("/c"),))
    assert [c.ticked for c in choose(members, only, _same)] == [False, False, True]
    turned = choose(members, _assistant(RuleKind.NEWEST, invert=True), _same)
    assert [(c.keep, c.ticked) for c in turned] == [(False, True), (False, True), (True, False)]
    assert turned[2].reason == "older"


def test_one_file_on_disk_always_stays_whatever_the_rules():
    rng = random.Random(11)
    kinds = list(DuplicateKind)
    for _ in range(500):
        members = [
            _copy(
                f"/{rng.choice('abc')}/{rng.choice(['x', 'x (1)', 'copy of x'])}{n}.{rng.choice(['txt', 'pdf'])}",
                rng.randint(0, 2),
                mtime=rng.randint(0, 3),
                size=rng.randint(1, 3),
                member=rng.choice(["", "", "", "m"]),
                linked=rng.random() < 0.2,
                signed=rng.random() < 0.2,
            )
            for n in range(rng.randint(1, 6))
        ]
        folders = [Path(f"/{letter}") for letter in "abc" if rng.random() < 0.3]
        assistant = Assistant(
            tuple(Rule(kind, Path("/a")) for kind in rng.sample(list(RuleKind), rng.randint(0, 4))),
            tuple(rng.sample(kinds, rng.randint(0, 7))),
            tuple(folders),
            invert=rng.random() < 0.5,
        )
        chosen = choose(members, assistant, _related(rng.choice(kinds), missing_b=rng.choice([0, 0, 2])))
        live = [n for n, m in enumerate(members) if not m.member and not m.linked]
        assert sum(c.keep for c in chosen) == (1 if live else 0)
        assert not live or any(not chosen[n].ticked for n in live)
        for member, choice in zip(members, chosen, strict=True):
            assert not (choice.ticked and (member.member or member.linked or member.signed or choice.keep))
            assert not (choice.ticked and any(folder in member.path.parents for folder in folders))


@pytest.mark.parametrize(
    ("name", "copy"),
    [
        ("plan copy.txt", True), ("plan (1).txt", True), ("Kopie von plan.odt", True), ("plan - Copy (2).docx", True),
        ("plan.txt~", True), ("plan.bak", True), ("plan-old.pdf", True), ("copyright.txt", False),
        ("photocopy.pdf", False), ("plan 2.txt", False), ("Plan (draft).txt", False), ("goldfish.txt", False),
    ],
)  # fmt: skip
def test_names_that_say_copy(name, copy):
    assert names_a_copy(Path("/d") / name) is copy


def test_rules_are_read_as_they_are_written():
    text = "in:/home/a/b,,c, newest, best-format, tick:bytes+near, protect:/safe, only-in:/x, invert"
    assistant = parse_rules(text)
    assert assistant.rules[0] == Rule(RuleKind.IN_FOLDER, Path("/home/a/b,c"))
    assert assistant.kinds == (K.BYTES, K.NEAR)
    assert parse_rules(format_rules(assistant)) == assistant
    assert parse_rules("") == Assistant()
    assert parse_rules("tick:text").rules == Assistant().rules


@pytest.mark.parametrize(
    "text", ["foo", "newest:/a", "in:", "tick:related", "tick:numbers", "tick:foo", "in", "protect:"]
)
def test_rules_that_mean_nothing_are_refused_with_what_there_is(text):
    with pytest.raises(UsageError) as caught:
        parse_rules(text)
    assert caught.value.code == "bad-rule"
    assert caught.value.hint
