from __future__ import annotations

import inspect

import pytest

from sbert_desktop.errors import UsageError
from sbert_desktop.training.labels import LabelKind
from sbert_desktop.training.objectives import OBJECTIVES, HyperParameters, checked, defaults, objectives_for


def test_each_loss_and_each_of_its_parameters_is_the_librarys() -> None:
    from sentence_transformers.sentence_transformer import losses

    for known in OBJECTIVES:
        taken = inspect.signature(getattr(losses, known.loss).__init__).parameters
        assert set(known.parameters) <= set(taken), known.loss


@pytest.mark.parametrize("kind", list(LabelKind))
def test_every_kind_of_label_has_an_objective_and_usable_figures(kind: LabelKind) -> None:
    assert objectives_for(kind)
    for count in (1, 20, 300, 1_000, 100_000):
        found = defaults(kind, count)
        assert found.objective == objectives_for(kind)[0].key
        assert checked(found) == found
        assert found.learning_rate == 2e-5
        assert found.warm_up == 0.1


def test_few_labels_are_seen_more_often_and_many_once() -> None:
    assert defaults(LabelKind.PAIRS, 90).epochs > defaults(LabelKind.PAIRS, 3_000).epochs
    assert defaults(LabelKind.NLI, 500_000).epochs == 1


def test_what_does_not_fit_is_refused_and_says_what_does() -> None:
    with pytest.raises(UsageError, match="cosent"):
        defaults(LabelKind.GRADED, 100, "triplet")
    with pytest.raises(UsageError, match="no objective"):
        defaults(LabelKind.GRADED, 100, "magic")


@pytest.mark.parametrize("change", [{"epochs": 0}, {"batch": 1}, {"learning_rate": float("nan")}, {"warm_up": 1.0}])
def test_figures_out_of_range_are_refused(change: dict[str, float]) -> None:
    values = {"objective": "cosent", "epochs": 1, "batch": 16, **change}
    with pytest.raises(UsageError, match="that training can use"):
        checked(HyperParameters(**values))  # type: ignore[arg-type]


def test_every_objective_is_one_plain_sentence() -> None:
    for known in OBJECTIVES:
        assert known.sentence.endswith(".")
        assert known.sentence.count(". ") == 0
