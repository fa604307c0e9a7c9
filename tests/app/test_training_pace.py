"""How long a training takes: told by what earlier ones took here, and as a range."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sbert_desktop.app import training_pace
from sbert_desktop.app.planning import check_labels
from sbert_desktop.app.training_pace import Pace, keep_pace, minutes_for, read_paces, work_of
from sbert_desktop.app.training_runs import runs_folder
from sbert_desktop.app.training_views import Plan
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.running import CROSS_ENCODER, ENCODER
from tests.app.made_labels import CONTEXT

TABLE = LabelSet(LabelKind.PAIRS, (Example(("a boat", "a ship"), 1.0), Example(("x" * 5_000, "a cat"), 0.0)))


def pace(minutes: float, *, work: float = 1_000.0, device: str = "cpu", kind: str = ENCODER, when: float = 1.0) -> Pace:
    return Pace(work, 60 * minutes, device, kind, when)


def test_without_an_earlier_training_the_range_is_wide_and_grows_with_the_work() -> None:
    low, high = minutes_for(1e6, ENCODER, ())
    assert 0 < 3 * low < high
    assert minutes_for(2e6, ENCODER, ()) == pytest.approx((2 * low, 2 * high))


def test_earlier_trainings_of_this_machine_are_believed_and_the_range_holds_all_of_them() -> None:
    low, high = minutes_for(2_000.0, ENCODER, (pace(3), pace(5)))
    assert low < 6 < 10 < high
    assert high / low < 3
    low, high = minutes_for(1_000.0, ENCODER, (pace(40),))  # far slower than the rough figure says
    assert low < 40 < high < 60


def test_another_kind_of_model_or_another_device_says_nothing() -> None:
    rough = minutes_for(1_000.0, ENCODER, ())
    assert minutes_for(1_000.0, ENCODER, (pace(9, kind=CROSS_ENCODER),)) == rough
    assert minutes_for(1_000.0, ENCODER, (pace(9, device="cuda"),), cpu=True) == rough
    mixed = (pace(0.1, device="cuda"), pace(9))
    assert minutes_for(1_000.0, ENCODER, mixed)[1] < 1
    assert minutes_for(1_000.0, ENCODER, mixed, cpu=True)[0] > 5


def test_of_many_trainings_the_newest_count() -> None:
    low, high = minutes_for(1_000.0, ENCODER, (*[pace(2)] * 5, pace(50)))
    assert low < 2 < high < 3


def test_the_longer_the_texts_and_the_larger_the_model_the_more_work(tmp_path: Path) -> None:
    once = work_of(TABLE, 1, None)
    assert work_of(TABLE, 3, None) == 3 * once
    assert once < 5_000, "no more of a text counts than a model reads"
    (tmp_path / "config.json").write_text(json.dumps({"hidden_size": 768, "num_hidden_layers": 12}))
    assert work_of(TABLE, 1, tmp_path) == pytest.approx(once * 8, rel=0.01)
    assert work_of(TABLE, 1, tmp_path / "gone") == once


def test_what_was_kept_is_read_again_and_an_early_end_counts_for_what_was_done(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        keep_pace(tmp_path / name, 800.0, steps=30, of=120, seconds=60.0, device="cpu", kind=ENCODER)
    old, new = sorted((tmp_path / "old", tmp_path / "new"), key=lambda one: json.loads(
        (one / training_pace.PACE).read_text())["when"])  # fmt: skip
    found = read_paces([old, new, tmp_path / "none"])
    assert [(one.work, one.seconds) for one in found] == [(200.0, 60.0)] * 2
    assert found[0].when >= found[1].when


@pytest.mark.parametrize(("steps", "seconds"), [(0, 0.0), (4, 10.0), (30, 0.0)])
def test_what_says_nothing_is_not_kept(steps: int, seconds: float, tmp_path: Path) -> None:
    keep_pace(tmp_path, 800.0, steps=steps, of=120, seconds=seconds, device="cpu", kind=ENCODER)
    assert read_paces([tmp_path]) == ()


@pytest.mark.parametrize("kept", [
    "[1]", "{", "{}", '{"work": "much", "seconds": 1, "when": 1, "device": "cpu", "kind": "encoder"}',
    '{"work": 0, "seconds": 1, "when": 1, "device": "cpu", "kind": "encoder"}',
    '{"work": 1, "seconds": NaN, "when": 1, "device": "cpu", "kind": "encoder"}', "[" * 100_000,
    '{"work": 1%s, "seconds": 1, "when": 1, "device": "cpu", "kind": "encoder"}' % ("0" * 400),
    '{"work": 1e-300, "seconds": 1e300, "when": 1, "device": "cpu", "kind": "encoder"}',
    '{"work": 1, "seconds": 1, "when": 1e12, "device": "cpu", "kind": "encoder"}',
])  # fmt: skip
def test_a_damaged_file_is_passed_over(kept: str, tmp_path: Path) -> None:
    (tmp_path / training_pace.PACE).write_text(kept)
    assert read_paces([tmp_path]) == ()


def test_the_check_says_what_the_last_training_in_this_library_would_make_of_it(session, tmp_path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("\n".join(["text_a,text_b,label", *(f"boat {n} leaves,ship {n} departs,{n % 2}"
                                                         for n in range(200))]))  # fmt: skip
    plan = Plan(judgements=False, labels=(table,), epochs=4, batch=4)
    before = check_labels(session, plan, CONTEXT)
    assert 0 < before.minutes < before.most_minutes < 10
    folder = runs_folder(session) / "an-earlier-one"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text("{}")
    keep_pace(folder, 1_000.0, steps=100, of=100, seconds=60.0, device="cpu", kind=ENCODER)  # a slow machine
    after = check_labels(session, plan, CONTEXT)
    assert after.minutes > before.most_minutes
    assert after.minutes < after.most_minutes < 2 * after.minutes
    again = check_labels(session, Plan(judgements=False, labels=(table,), epochs=8, batch=4), CONTEXT)
    assert again.minutes == pytest.approx(2 * after.minutes, rel=0.01)
