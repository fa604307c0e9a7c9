"""What the checks of a tuned model say in a narrow row."""

from __future__ import annotations

import pytest

from sbert_desktop.app.comparing_models import _guard_view
from sbert_desktop.training.guards import Guard


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("collapse", "Typical score 0.12, before 0.06"),
        ("general", "Agreement 0.12, before 0.06"),
        ("neighbours", "1 of 10 neighbours are the same"),
    ],
)
def test_what_a_check_measured_is_said_in_a_few_words_too(code, said):
    view = _guard_view(Guard(code, "A title", True, "A long sentence.", "stops", 0.06, 0.12))
    assert view.brief == said
    assert len(view.brief) < 45
    assert _guard_view(Guard(code, "A title", True, "A long sentence.")).brief == ""
