"""The part of the fake program that keeps things: collections, saved searches, models, health, quotes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sbert_desktop.app.views import (
    CollectionItem,
    CollectionView,
    HealthView,
    HitView,
    KeptView,
    ModelView,
    QuoteView,
    SavedSearchView,
)
from sbert_desktop.domain import Event, Failure, Finished, JobId, Mode, Outcome, Progress, Query, Started

HOME = Path.home()
NOW = 1_700_000_000.0

MODEL = ModelView(
    name="all-MiniLM-L6-v2",
    path=HOME / "models" / "minilm",
    dimension=384,
    max_tokens=256,
    pooling="mean",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    active=True,
    fingerprint="f3a9c1",
    size=90_868_376,
    state="ready",
    languages=("en",),
    bundled=True,
    licence="apache-2.0",
)
HOME_1 = replace(MODEL, name="home-1", active=False, size=90_870_000, sha256="9e0d7104aa", bundled=False,
                 path=HOME / "models" / "home-1")
MULTILINGUAL = replace(HOME_1, name="paraphrase-multilingual-MiniLM-L12-v2", size=471_000_000, max_tokens=128,
                       sha256="77ab0", path=HOME / "models" / "multilingual",
                       languages=("ar", "de", "en", "es", "fr", "it", "ja", "zh"))
RERANK = replace(HOME_1, name="minilm-rerank", kind="cross-encoder", dimension=0, max_tokens=512, pooling="",
                 size=88_000_000, sha256="c0ffee", path=HOME / "models" / "rerank")

_ITEMS = (
    ("Documents/Home/Contracts/Tenancy agreement Alder Street 14.pdf", "", 3,
     "§ 7 Deposit. The landlord returns the deposit within thirty days after the keys are handed over, less any sums "
     "still owed.", "Quote this in the letter", 31),
    ("Mail/mail-2022-11.mbox", "418 Re: flat, handing over the keys.eml", None,
     "I will transfer the deposit by the end of December, as soon as the final water reading is in.", "", 42),
    ("Notes/Home/Moving out checklist.md", "", None,
     "Ask for the deposit in writing; they have a month after handover to pay it back. Photograph the meters.",
     "Done on 31 October", 53),
    ("Documents/Home/Letters/Old letter.docx", "", 1, "Six weeks have passed since the handover.", "", 0),
)


def items(number: int = 4) -> tuple[CollectionItem, ...]:
    """Gives canned items of a collection; the last of four is gone from the library."""
    out = []
    for at in range(number):
        place, member, page, text, note, content = _ITEMS[at % 4]
        path = HOME / place
        title = "Re: flat, handing over the keys" if member else path.name
        out.append(CollectionItem(at + 1, path, member, title, text, page, note, NOW - 86_400 * at,
                                  content * 10 if content else 0, content))
    return tuple(out)


QUOTES = (
    QuoteView("the landlord returns the deposit within thirty days", 120, 171, "exact",
              HOME / "Documents/Home/Contracts/Tenancy agreement Alder Street 14.pdf", "", 3,
              "The landlord returns the deposit within thirty days", (), 31),
    QuoteView("they have six weeks after handover to pay it back", 402, 451, "changed",
              HOME / "Notes/Home/Moving out checklist.md", "", None,
              "they have a month after handover to pay it back", ((10, 19),), 53),
    QuoteView("as safe as houses, the notary called it", 780, 819, "not found"),
)


class FakeKept:
    """Canned answers; needs ``calls``, ``_job``, ``say`` and ``state`` of the fake program."""

    calls: list[tuple[object, ...]]
    state: str

    def keep_nothing_yet(self) -> None:
        """Sets up what the state wants."""
        self.kept: tuple[CollectionView, ...] = ()
        self.searches: tuple[SavedSearchView, ...] = ()
        self.model_rows: tuple[ModelView, ...] = (HOME_1,)
        self.quote_rows: tuple[QuoteView, ...] = QUOTES
        self.copy_found: KeptView | None = None
        self.health_view = HealthView(96_204, 1_310, 12, 0.93, 50, "The accelerator finds 93 of 100 of the best hits. "
                                      "1,310 rows belong to passages that are gone.", True)
        self._last_id = 10_000
        self.hold_models = False  # a model that is being got does not come by itself
        if self.state in ("kinds", "kept"):
            self.kept = (CollectionView("Deposit", "For the letter to the landlord", items()),
                         CollectionView("Thesis, chapter 2", "", items(2)), CollectionView("Empty", "", ()))
            self.searches = (SavedSearchView("Deposit news", "deposit after:2023-01-01", Mode.HYBRID, NOW, 3),
                             SavedSearchView("Scooter", '"scooter hire"', Mode.KEYWORD, NOW))
            self.model_rows = (HOME_1, MULTILINGUAL, RERANK)

    def _job(self, kind: str, result: object, *partials: object, events: Sequence[Event] = ()) -> JobId:
        raise NotImplementedError

    # ---- collections

    def collections(self) -> JobId:
        self.calls.append(("collections",))
        return self._job("collections", self.kept)

    def collect(self, name: str, hits: Sequence[HitView], *, note: str = "") -> JobId:
        self.calls.append(("collect", name, tuple(hit.passage_id for hit in hits)))
        old = next((view for view in self.kept if view.name == name), CollectionView(name, note, ()))
        there = {item.passage_id for item in old.items}
        new = []
        for hit in hits:
            if hit.passage_id not in there:
                self._last_id += 1
                new.append(CollectionItem(self._last_id, hit.path, hit.member, hit.path.name, hit.text, hit.page, "",
                                          NOW, hit.passage_id, hit.content_id))
        changed = replace(old, items=(*old.items, *new))
        self.kept = (*(view for view in self.kept if view.name != name), changed)
        return self._job("collections", self.kept)

    def change_collection(self, name: str, *, rename: str = "", note: str | None = None,
                          take_out: Sequence[int] = (), delete: bool = False,
                          item_note: tuple[int, str] | None = None) -> JobId:
        self.calls.append(("change_collection", name, rename, note, tuple(take_out), delete, item_note))
        out = []
        for view in self.kept:
            if view.name == name:
                if delete:
                    continue
                own = tuple(replace(item, note=item_note[1]) if item_note and item.id == item_note[0] else item
                            for item in view.items if item.id not in take_out)
                view = CollectionView(rename or name, view.note if note is None else note, own)
            out.append(view)
        self.kept = tuple(out)
        return self._job("collections", self.kept)

    def export_collection(self, name: str, target: Path) -> JobId:
        self.calls.append(("export_collection", name, target))
        return self._job("export", target)

    # ---- saved searches

    def saved_searches(self) -> JobId:
        self.calls.append(("saved_searches",))
        return self._job("saved", self.searches)

    def save_search(self, name: str, query: Query) -> JobId:
        self.calls.append(("save_search", name, query))
        self.searches = (*(view for view in self.searches if view.name != name),
                         SavedSearchView(name, query.text, query.mode, NOW))
        return self._job("saved", self.searches)

    def remove_saved(self, name: str) -> JobId:
        self.calls.append(("remove_saved", name))
        self.searches = tuple(view for view in self.searches if view.name != name)
        return self._job("saved", self.searches)

    # ---- health

    def health(self) -> JobId:
        self.calls.append(("health",))
        return self._job("health", self.health_view)

    def repair(self) -> JobId:
        self.calls.append(("repair",))
        self.health_view = HealthView(94_894, 0, 0, 0.99, 50, "The accelerator finds 99 of 100 of the best hits.")
        return self._job("index", self.health_view)

    # ---- the daily copy

    def kept_copy(self) -> JobId:
        self.calls.append(("kept_copy",))
        return self._job("kept", self.copy_found)

    def restore_kept(self, source: Path | None = None) -> JobId:
        self.calls.append(("restore_kept", source))
        came, self.copy_found = self.copy_found, None
        return self._job("kept", came)

    # ---- quotes

    def quotes(self, draft: Path | str) -> JobId:
        self.calls.append(("quotes", draft))
        return self._job("quotes", self.quote_rows)

    # ---- models

    def _models(self) -> tuple[ModelView, ...]:
        return (MODEL, *self.model_rows)

    def add_model(self, source: str, *, again: str = "") -> JobId:
        self.calls.append(("add_model", source, again) if again else ("add_model", source))
        if self.hold_models:
            self.held = JobId("models-held")
            self.say([Started(self.held, "models"),
                      Progress(self.held, "model.safetensors", 120_000_000, 471_000_000)])
            return self.held
        own = again or source.rstrip("/").rpartition("/")[2]
        others = (m for m in self.model_rows if m.name != own)
        self.model_rows = (*others, replace(HOME_1, name=own, path=HOME / "models" / own))
        return self._job("models", self._models())

    def use_model(self, name: str) -> JobId:
        self.calls.append(("use_model", name))
        return self._job("models", tuple(replace(m, active=m.name == name) for m in self._models()))

    def remove_model(self, name: str) -> JobId:
        self.calls.append(("remove_model", name))
        self.model_rows = tuple(m for m in self.model_rows if m.name != name)
        return self._job("models", self._models())

    def fail_held(self) -> None:
        """Ends the model that is being got: the internet is not there."""
        self.say([Finished(self.held, Outcome.FAILED, None,
                           Failure("no-internet", "huggingface.co could not be reached.",
                                   "Check the connection, then try again."))])

    def say(self, events: Sequence[Event]) -> None:
        raise NotImplementedError
