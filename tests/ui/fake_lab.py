"""The part of the fake program that measures models, counts unread languages, and holds both back when asked.

Set ``hold_lab`` to keep a measurement going (``let_lab_go``), ``unread_rows`` for documents that the model in use does
not know. All figures are invented.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sbert_desktop.app.training_views import LabRow, LabView, SpaceView
from sbert_desktop.app.views import ModelView, UnreadLanguage
from sbert_desktop.domain import Event, Failure, Finished, JobId, Outcome, Partial, Progress, Started
from tests.ui.fake_kept import HOME_1, MULTILINGUAL, NOW, RERANK

_METRIC = "accuracy@1"


def lab_row(model: str, quality: float | None, wide: float, speed: float, size: int, dimension: int, way: str = "",
            mean_cosine: float = 0.05, change: float | None = None) -> LabRow:
    """Gives one invented row."""
    low, high = (None, None) if quality is None else (quality - wide, quality + wide)
    ends = (None, None) if change is None else (change - 0.02, change + 0.02)
    return LabRow(model, way or "as it is", _METRIC, quality, low, high, mean_cosine, 0.9, speed, size, dimension, "",
                  change, *ends)


def measured() -> LabView:
    """Gives invented figures of five models and of the ways to use one of them."""
    own = "all-MiniLM-L6-v2"
    rows = (
        lab_row("mpnet-base", 0.66, 0.09, 56, 438_000_000, 768, mean_cosine=0.02),
        lab_row("ModernBERT-small", 0.63, 0.09, 125, 190_000_000, 512, mean_cosine=0.18),
        lab_row("paraphrase-multilingual-MiniLM-L12-v2", 0.55, 0.09, 150, 471_000_000, 384, mean_cosine=0.11),
        lab_row(own, 0.58, 0.09, 312, 90_868_376, 384),
        lab_row("home-1", 0.71, 0.08, 312, 90_870_000, 384, mean_cosine=0.06),
        lab_row(own, 0.55, 0.09, 312, 90_868_376, 384, "cls", 0.09, -0.03),
        lab_row(own, 0.53, 0.09, 312, 90_868_376, 384, "max", 0.21, -0.05),
        lab_row(own, 0.57, 0.09, 309, 90_868_376, 384, "mean_last_4", 0.07, -0.01),
        lab_row(own, 0.57, 0.09, 312, 90_868_376, 128, "pca 128", 0.05, -0.01),
        lab_row(own, 0.58, 0.09, 312, 90_868_376, 384, "int8", 0.05, 0.0),
    )
    return LabView(rows, "100 of your own questions", 100, NOW)


def many_models() -> tuple[ModelView, ...]:
    """Gives the models of the mock-up beside the bundled one."""
    tuned = replace(HOME_1, base="all-MiniLM-L6-v2", licence="apache-2.0", added=NOW, dimension=384)
    return (
        tuned,
        replace(MULTILINGUAL, fingerprint="77ab0", licence="apache-2.0", added=NOW),
        replace(HOME_1, name="mpnet-base", dimension=768, max_tokens=384, size=438_000_000, fingerprint="aa11",
                sha256="aa11" * 16, licence="mit", path=HOME_1.path.with_name("mpnet-base"),
                source="sentence-transformers/all-mpnet-base-v2"),
        replace(HOME_1, name="ModernBERT-small", dimension=512, max_tokens=8192, size=190_000_000, fingerprint="bb22",
                prompts=(("document", "passage: "), ("query", "query: ")), sha256="bb22" * 16),
        replace(RERANK, state="refused", note="model.safetensors of minilm-rerank is not the published file.",
                source="cross-encoder/ms-marco-MiniLM-L6-v2", fingerprint="cc33"),
    )


class FakeLab:
    """Mixed into :class:`FakeApp` before the part that trains; every call stands in ``calls``."""

    calls: list[tuple[object, ...]]
    say: Callable[[Sequence[Event]], None]
    fail: dict[str, Failure]
    lab_view: LabView | None
    space_rows: tuple[SpaceView, ...]
    hold_lab = False
    unread_rows: tuple[UnreadLanguage, ...] = ()

    def _models(self) -> tuple[ModelView, ...]:
        raise NotImplementedError

    def _job(self, kind: str, result: object, *partials: object, events: Sequence[Event] = ()) -> JobId:
        raise NotImplementedError

    def use_model(self, name: str) -> JobId:
        """As the real one: a kept space is in use at once, else another one is built while the old one serves."""
        model = next((m for m in self._models() if m.name == name), None)
        if model is not None and model.kind == "encoder":
            own = next((row for row in self.space_rows if row.model == name), None)
            if own is None:
                building = SpaceView(f"of-{name}", name, "building", 12_000_000, 8_000, 96_204, name)
                self.space_rows = (*self.space_rows, building)
            else:
                self.space_rows = tuple(
                    replace(row, state="in use" if row is own else "kept") for row in self.space_rows
                    if row.state != "building" or row is own)
        return super().use_model(name)  # type: ignore[misc]

    def lab(self, models: Sequence[str], data: str = "judgements", ways: Sequence[str] = ()) -> JobId:
        self.calls.append(("lab", tuple(models), data, tuple(ways)))
        whole = measured()
        if self.hold_lab:
            job = JobId("lab-held")
            self.say([Started(job, "lab"), Progress(job, "mpnet-base", 1, 4),
                      Partial(job, replace(whole, rows=whole.rows[:2]))])
            return job
        self.lab_view = whole
        return self._job("lab", whole, replace(whole, rows=whole.rows[:2]))

    def let_lab_go(self, outcome: Outcome = Outcome.DONE, failure: Failure | None = None) -> None:
        """Ends the measurement that was held."""
        done = outcome is Outcome.DONE
        self.say([Finished(JobId("lab-held"), outcome, measured() if done else None, failure)])

    def export_lab(self, view: LabView, target: Path) -> JobId:
        self.calls.append(("export_lab", len(view.rows), target))
        return self._job("export", target)

    def unread_languages(self) -> JobId:
        self.calls.append(("unread_languages",))
        return self._job("unread-languages", self.unread_rows)
