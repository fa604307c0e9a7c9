"""The part of the fake program that trains: pairs to judge, checks, a training with curves, comparisons, spaces, a lab.

Set ``pairs_left`` to run out of pairs, ``hold_pairs`` to answer later (``let_pairs_go``), ``hold_training`` to keep a
training going (``step_training``, ``let_training_go``), ``comparison`` or ``check_view`` to have another answer. All
figures and texts are invented.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sbert_desktop.app.training_views import (
    Arrow,
    ChangeRow,
    CheckView,
    ComparisonView,
    CurvePoint,
    FindingView,
    GuardView,
    ImportedView,
    LabelRow,
    LabelsView,
    LabRow,
    LabView,
    PairView,
    Plan,
    RunView,
    SideBySide,
    SpaceView,
    TableView,
    Task,
    TextSide,
    TrainingView,
)
from sbert_desktop.domain import Event, Finished, JobId, Outcome, Partial, Progress, Started

HOME = Path.home()
NOW = 1_700_000_000.0
WHY = ("unsure", "unsure", "sure-same", "unsure", "sure-different")
STEPS = 240
RUN = "home-1-2026-11-30-0912"

# place, page, before, text, after
_PASSAGES: tuple[tuple[str, int | None, str, str, str], ...] = (
    ("Notes/Garden/Garden notebook 2023.md", None,
     "The tomatoes came up on the ninth, the peppers four days later. Both trays stand on the south sill and lean "
     "towards the glass, so I turn them every morning.",
     "Water the seedlings every second day until the first true leaves show; after that once a week is enough.",
     "Move them out once the nights stay above ten degrees, first for an hour, then for the whole day."),
    ("Documents/Courses/Raising vegetables, week 4 handout.pdf", 2,
     "Too much water is the most common reason for weak roots. Lift the tray: if it feels light, it is time; if not, "
     "wait another day.",
     "Once true leaves have formed, young plants need water only weekly. Before that, keep the soil evenly moist.",
     "Harden off for ten days before planting out, and shade the plants during the first bright noon."),
    ("Notes/Kitchen/Loaf notes.md", None, "Weigh the grain the evening before.",
     "Soak the rye for twelve hours in twice its weight of water.", "Drain well; a wet crumb never sets."),
    ("Documents/Recipes/Rye bread, soak.docx", 1, "Overnight",
     "Cover the rye grains with double the amount of water and leave them for half a day.", "Then the dough."),
    ("Documents/Travel/Ferry times May.pdf", 1, "Larkmoor pier, weekdays.", "The last boat leaves at 18:40.",
     "Bicycles travel free."),
    ("Documents/Travel/Ferry times June.pdf", 1, "Larkmoor pier, weekdays.", "The last boat leaves at 21:15.",
     "Bicycles travel free."),
    ("Documents/Home/Deposit letter.docx", 1, "Dear Ms Alder,",
     "Please return our deposit within thirty days, as the agreement says.", "The keys were handed over in October."),
    ("Documents/Home/Tenancy agreement.pdf", 3, "§ 7 Deposit.",
     "The landlord returns the deposit within thirty days after the keys are handed over.",
     "Interest earned on the deposit belongs to the tenant."),
    ("Documents/Invoices/Invoice 031.pdf", 1, "Timber for the shed.", "Total due: 412.50, payable in 14 days.", ""),
    ("Documents/Invoices/Invoice 037.pdf", 1, "Timber for the fence.", "Total due: 187.20, payable in 14 days.", ""),
    ("Documents/Research/Probe drift.pdf", 9, "Seven probes were buried in March.",
     "In heavy clay the probes read too low by a fifth after one summer.", "Recalibrate in autumn."),
    ("Documents/Research/Clay and sensors.docx", 4, "Field notes of 2022.",
     "Sensors in clay-rich plots lost about twenty percent of their signal within a season.", "See plot 7."),
)
_FIELDS = {
    "pairs": ("text_a", "text_b", "label"), "positives": ("anchor", "positive"),
    "graded": ("sentence1", "sentence2", "score"), "triplets": ("anchor", "positive", "negative"),
    "nli": ("premise", "hypothesis", "label"), "relevance": ("question", "passage", "relevant"),
}  # fmt: skip
QUESTIONS = ("when do I get my deposit back", "bread that needs no kneading", "why does probe seven read low",
             "who fixed the boiler in January", "when to sow broad beans", "ferry with bicycles",
             "what did Odile ask about the house")
_RIGHT = ("Tenancy agreement Alder Street 14.pdf", "Overnight rye, notes.md", "Clay content and sensor drift.pdf",
          "Receipt 2024-011 heating.pdf", "Garden notebook 2023.md", "Coast walk plan 2024.odt",
          "Letter to Aunt Odile, May.odt")


def side(number: int) -> TextSide:
    """Gives one canned passage."""
    place, page, before, text, after = _PASSAGES[number % len(_PASSAGES)]
    path = HOME / place
    return TextSide(text, path, "", path.name, page, before, after, 100 + number, f"{number:064x}", 0, len(text))


def pair(number: int, task: Task = Task.SAME) -> PairView:
    """Gives one canned pair."""
    left = TextSide(QUESTIONS[number % len(QUESTIONS)]) if task is Task.ANSWERS else side(2 * number)
    return PairView(f"{task.value}-{number}", task, left, side(2 * number + 1), WHY[number % len(WHY)])


def label_row(number: int, task: Task = Task.SAME, verdict: str = "", source: str = "train") -> LabelRow:
    """Gives one canned judgement."""
    made = pair(number, task)
    said = verdict or (("same", "different") if task is Task.SAME else ("relevant", "not relevant"))[number % 2]
    return LabelRow(made.id, task, made.left.text, made.right.text, said, NOW - 9.0 * (1000 - number), source,
                    made.left.title, made.right.title)


def guards() -> tuple[GuardView, ...]:
    """Gives canned checks of a tuned model, one of which only warns."""
    return (
        GuardView("general", "Still good at general text", "0.4 lower on the standard test, 2.0 allowed", True),
        GuardView("collapse", "Unrelated texts stay apart", "Typical score 0.06, before 0.05", True),
        GuardView("speed", "Just as fast", "312 passages/s, same size on disk", True),
        GuardView("leak", "Fair test", "No question or its twin was in the training", True),
        GuardView("coverage", "Few examples from Letters and family", "Only 4 pairs; that theme may not improve", False,
                  "warns"),
    )


def comparison(**more: object) -> ComparisonView:
    """Gives a canned comparison: clearly better, recommended."""
    now, tuned = (2, 7, 4, 6, 2, 3, 1), (1, 1, 1, 1, 1, 1, 3)
    rows = tuple(ChangeRow(*row, at < 5) for at, row in enumerate(zip(QUESTIONS, _RIGHT, now, tuned, strict=True)))
    rows += tuple(ChangeRow(f"question {at}", f"Document {at}.pdf", 3, 1, False) for at in range(8))
    searches = tuple(SideBySide(question, (_RIGHT[(at + 1) % 7], _RIGHT[at], _RIGHT[(at + 2) % 7]),
                                (_RIGHT[at], _RIGHT[(at + 1) % 7], _RIGHT[(at + 3) % 7]), at < 3)
                     for at, question in enumerate(QUESTIONS))
    arrows = tuple(Arrow(f"Document {at}.pdf", x, y, min(1.0, max(0.0, x + 0.06 * math.sin(at))),
                         min(1.0, max(0.0, y + 0.05 * math.cos(2.0 * at))))
                   for at in range(160)
                   for x, y in [(0.5 + 0.4 * math.sin(at * 2.4) * math.sqrt(at / 160),
                                 0.5 + 0.4 * math.cos(at * 2.4) * math.sqrt(at / 160))])
    made = ComparisonView(
        RUN, "Home 1", "MiniLM", "accuracy@1", "of 100 right first", 0.58, 0.71, 0.13, 0.06, 0.20, True,
        "Finds the right document first in 71 of 100 questions instead of 58", True, "", 14, 85, 1, 100, 300, 192.0,
        guards(), rows, 12, 3, 96_204, 5.0, 148_000_000, (("nDCG@10", 0.66, 0.78), ("MRR", 0.63, 0.76)), searches,
        arrows)
    return replace(made, **more)  # type: ignore[arg-type]


def curve(step: int, of: int = STEPS) -> tuple[CurvePoint, ...]:
    """Gives the curves up to a step: a point every 4 steps, measured on the held-out part every 24."""
    return tuple(CurvePoint(at, 0.05 + 0.4 * math.exp(-3.0 * at / of) + 0.02 * math.sin(at),
                            0.71 - 0.13 * math.exp(-4.0 * at / of) if at % 24 == 0 else None)
                 for at in range(0, step + 1, 4))


def training(step: int, of: int = STEPS, *, phase: str = "Learning", notice: str = "") -> TrainingView:
    """Gives how a training stands at a step."""
    return TrainingView(RUN, phase, step, of, curve(step, of), "accuracy@1", (of - step) * 0.8, notice)


def lab_view() -> LabView:
    """Gives canned figures of the lab."""
    rows = (
        LabRow("all-MiniLM-L6-v2", "as it is", "AP", 0.742, 0.69, 0.79, 0.05, 0.91, 312.0, 90_868_376, 384),
        LabRow("home-1", "as it is", "AP", 0.831, 0.79, 0.87, 0.06, 0.90, 312.0, 90_870_000, 384),
        LabRow("paraphrase-multilingual-MiniLM-L12-v2", "as it is", "AP", 0.768, 0.71, 0.82, 0.11, 0.88, 164.0,
               471_000_000, 384),
        LabRow("all-MiniLM-L6-v2", "max", "AP", 0.715, 0.66, 0.77, 0.21, 0.84, 312.0, 90_868_376, 384),
        LabRow("all-MiniLM-L6-v2", "128 dimensions", "AP", 0.731, 0.68, 0.78, 0.05, 0.92, 312.0, 90_868_376, 128),
        LabRow("minilm-rerank", "as it is", "AP", None, None, None, None, None, None, 88_000_000, 0,
               "A cross-encoder has no vectors: only its quality could be measured."),
    )
    return LabView(rows, "120 of your judgements", 120, NOW, ("Speed was measured on this computer.",))


class FakeTraining:
    """Mixed into :class:`FakeApp`; every call stands in ``calls``."""

    calls: list[tuple[object, ...]]
    state: str
    say: Callable[[Sequence[Event]], None]

    def train_nothing_yet(self) -> None:
        """Sets up what the state wants."""
        self.label_rows: dict[Task, list[LabelRow]] = {Task.SAME: [], Task.ANSWERS: []}
        self.enough: dict[Task, int] = {Task.SAME: 120, Task.ANSWERS: 60}
        self.pairs_left: int | None = 0 if self.state == "empty" else None  # None: they never run out
        self.hold_pairs = False
        self.held_pairs: list[tuple[JobId, tuple[PairView, ...]]] = []
        self.imported: tuple[ImportedView, ...] = ()
        self.check_view: CheckView | None = None
        self.comparison: ComparisonView = comparison()
        self.runs: tuple[RunView, ...] = ()
        self.hold_training = False
        self.held_training: JobId | None = None
        self.held_plan = Plan()
        self.space_rows: tuple[SpaceView, ...] = (
            SpaceView("f3a9c1", "MiniLM", "in use", 148_000_000, 96_204, 96_204, "all-MiniLM-L6-v2"),)
        self.lab_view: LabView | None = None
        self._next_pair = 0
        self._labels_generation = 0

    def _job(self, kind: str, result: object, *partials: object, events: Sequence[Event] = ()) -> JobId:
        raise NotImplementedError

    # ---- labelling

    def judge(self, number: int, task: Task = Task.SAME) -> None:
        """Makes as if so many pairs had been judged."""
        self.label_rows[task] = [label_row(at, task) for at in reversed(range(number))]
        self._next_pair = max(self._next_pair, number)

    def pairs(self, task: Task, count: int = 20, *, among: Sequence[int] = ()) -> JobId:
        self.calls.append(("pairs", task, count, *([tuple(among)] if among else [])))
        given = count if self.pairs_left is None else min(count, self.pairs_left)
        if self.pairs_left is not None:
            self.pairs_left -= given
        made = tuple(pair(self._next_pair + at, task) for at in range(given))
        self._next_pair += given
        if self.hold_pairs:
            job = JobId(f"pairs-held-{len(self.held_pairs)}")
            self.held_pairs.append((job, made))
            self.say([Started(job, "pairs"), Progress(job, "Looking for pairs", 3, 10)])
            return job
        return self._job("pairs", made)

    def let_pairs_go(self) -> None:
        """Answers what was held."""
        held, self.held_pairs = self.held_pairs, []
        for job, made in held:
            self.say([Finished(job, Outcome.DONE, made)])

    def labels_view(self, task: Task) -> LabelsView:
        """Gives what was judged so far."""
        rows = tuple(self.label_rows[task])
        both = ("same", "different") if task is Task.SAME else ("relevant", "not relevant")
        counts = {word: sum(row.verdict == word for row in rows) for word in both}
        for row in rows:
            if row.verdict not in counts:
                counts[row.verdict] = sum(other.verdict == row.verdict for other in rows)
        total = len(rows)
        done = total if task is Task.SAME else len({row.left for row in rows})
        left = max(0, self.enough[task] - done)
        unit = "pairs" if task is Task.SAME else "questions"
        sentence = f"Enough to learn from: {done} {unit}." if not left else \
            f"About {left} more {unit} until a difference of 15 in 100 can be seen."
        few = min(counts[word] for word in both)
        balance = "Well balanced." if few * 3 >= len(rows) else \
            f"Few say {min(both, key=counts.__getitem__)}: the next ones lean that way."
        return LabelsView(task, total, tuple(counts.items()), self.enough[task], left, sentence,
                          balance if rows else "", rows, self._labels_generation)

    def _answer_labels(self, task: Task) -> JobId:
        self._labels_generation += 1
        return self._job("labels", self.labels_view(task))

    def label(self, pair: PairView, verdict: str) -> JobId:
        self.calls.append(("label", pair.id, verdict))
        if "labels" not in getattr(self, "fail", {}):
            row = LabelRow(pair.id, pair.task, pair.left.text, pair.right.text, verdict, NOW, "train", pair.left.title,
                           pair.right.title)
            others = [old for old in self.label_rows[pair.task] if old.id != pair.id]
            self.label_rows[pair.task] = [row, *others] if verdict else others
        return self._answer_labels(pair.task)

    def unlabel(self, task: Task, ids: Sequence[str]) -> JobId:
        self.calls.append(("unlabel", task, tuple(ids)))
        self.label_rows[task] = [row for row in self.label_rows[task] if row.id not in ids]
        return self._answer_labels(task)

    def relabel(self, task: Task, label: str, verdict: str) -> JobId:
        self.calls.append(("relabel", task, label, verdict))
        self.label_rows[task] = [replace(row, verdict=verdict) if row.id == label else row
                                 for row in self.label_rows[task]]
        return self._answer_labels(task)

    def labels(self, task: Task) -> JobId:
        self.calls.append(("labels", task))
        return self._job("labels", self.labels_view(task))

    def look_at_table(self, path: Path, mapping: Sequence[tuple[str, str]] = (), kind: str = "") -> JobId:
        self.calls.append(("look_at_table", path, tuple(mapping), kind))
        kind = kind or "pairs"
        fields = _FIELDS[kind]
        guessed = ("question1", "question2", "" if fields[2:] == ("negative",) else "is_duplicate")
        said = tuple(mapping) or tuple(zip(fields, guessed, strict=False))
        sample = tuple((f"How do I descale kettle {at}?", f"What removes limescale from kettle {at}?", str(at % 2))
                       for at in range(8))
        problems = ("3 rows have an empty text and are left out.",) if all(column for _, column in said) else \
            ("Choose a column for each field.",)
        return self._job("table", TableView(path, ("question1", "question2", "is_duplicate"), kind, said, sample, 412,
                                            problems))

    def import_labels(self, path: Path, kind: str, mapping: Sequence[tuple[str, str]]) -> JobId:
        self.calls.append(("import_labels", path, kind, tuple(mapping)))
        taken = ImportedView(path.stem, HOME / "library" / "labels" / path.name, kind, 409,
                             (("same", 180), ("different", 229)), NOW)
        self.imported = (taken, *self.imported)
        return self._job("import-labels", self.imported)

    def imported_labels(self) -> JobId:
        self.calls.append(("imported_labels",))
        return self._job("imported-labels", self.imported)

    def remove_imported(self, name: str) -> JobId:
        self.calls.append(("remove_imported", name))
        self.imported = tuple(one for one in self.imported if one.name != name)
        return self._job("imported-labels", self.imported)

    def export_labels(self, task: Task, target: Path) -> JobId:
        self.calls.append(("export_labels", task, target))
        return self._job("export", target)

    # ---- training

    def check_labels(self, plan: Plan) -> JobId:
        self.calls.append(("check_labels", plan))
        if self.check_view is not None:
            return self._job("check-labels", replace(self.check_view, plan=plan))
        count = (len(self.label_rows[plan.task]) if plan.judgements else 0) + \
            sum(one.rows for one in self.imported if one.path in plan.labels)
        held_out = round(count * plan.held_out)
        findings = [FindingView("contradictions", "warns", "2 pairs were judged both ways.",
                                "Open them and keep one answer.",
                                tuple(row.id for row in self.label_rows[plan.task][:4])),
                    FindingView("duplicates", "tells", "3 labels repeat others.", "They are counted once.")]
        if count < 20:
            findings.insert(0, FindingView("too-few", "stops", f"There are only {count} pairs, too few to learn from.",
                                           "Judge some more, or import some."))
        said = {"multiple-negatives": "Each text must find its partner among all partners of the batch; needs only "
                                      "pairs that belong together."}
        objective = "online-contrastive" if plan.objective == "auto" else plan.objective
        sentence = said.get(objective, "Draws together what you called the same and pushes apart what you called "
                            "different, learning only from the pairs that the model still gets wrong.")
        interval = f"With {held_out} pairs kept aside, a difference smaller than about 16 in 100 can't be told from " \
            "chance." if held_out else ""
        return self._job("check-labels", CheckView(plan, count - held_out, held_out, tuple(findings), objective,
                                                   sentence, interval, count >= 20, 3.0, 9.0))

    def _run(self, plan: Plan, state: str, step: int) -> RunView:
        done = state != "interrupted"
        return RunView(RUN, plan.name or "Home 1", state, NOW, plan, step, STEPS, self.comparison if done else None)

    def train(self, plan: Plan) -> JobId:
        self.calls.append(("train", plan))
        return self._train(plan)

    def resume_training(self, run: str) -> JobId:
        self.calls.append(("resume_training", run))
        return self._train(next((one.plan for one in self.runs if one.run == run), Plan()))

    def _train(self, plan: Plan) -> JobId:
        if self.hold_training:
            job = JobId("train-held")
            self.held_training, self.held_plan = job, plan
            self.runs = (self._run(plan, "interrupted", 0), *(one for one in self.runs if one.run != RUN))
            self.say([Started(job, "train"), Progress(job, "Preparing", None, None),
                      Partial(job, training(0, phase="Preparing"))])
            return job
        self.runs = (self._run(plan, "trained", STEPS), *(one for one in self.runs if one.run != RUN))
        steps = [training(step) for step in range(24, STEPS + 1, 24)]
        return self._job("train", self.comparison, *steps)

    def step_training(self, step: int, **more: str) -> None:
        """Reports how far the training that is held has come."""
        assert self.held_training is not None
        self.say([Partial(self.held_training, training(step, **more))])

    def let_training_go(self, outcome: Outcome = Outcome.DONE) -> None:
        """Ends the training that was held."""
        job, self.held_training = self.held_training, None
        if job is not None:
            done = outcome is Outcome.DONE
            self.runs = (self._run(self.held_plan, "trained" if done else "interrupted", STEPS if done else 96),
                         *self.runs[1:])
            self.say([Finished(job, outcome, self.comparison if done else None)])

    def pause_training(self) -> None:
        self.calls.append(("pause_training",))

    def continue_training(self) -> None:
        self.calls.append(("continue_training",))

    def trainings(self) -> JobId:
        self.calls.append(("trainings",))
        return self._job("trainings", self.runs)

    def _set_run(self, run: str, state: str) -> None:
        self.runs = tuple(replace(one, state=state) if one.run == run else one for one in self.runs)

    def keep_training(self, run: str) -> JobId:
        self.calls.append(("keep_training", run))
        self._set_run(run, "kept")
        return self._job("trainings", self.runs)

    def discard_training(self, run: str) -> JobId:
        self.calls.append(("discard_training", run))
        self.runs = tuple(one for one in self.runs if one.run != run)
        return self._job("trainings", self.runs)

    def adopt(self, run: str) -> JobId:
        self.calls.append(("adopt", run))
        self._set_run(run, "adopted")
        self.runs = tuple(replace(one, model="home-1", decided=NOW) if one.run == run else one for one in self.runs)
        self.space_rows = (*self.space_rows, SpaceView("b71c02", self.comparison.name, "building", 12_000_000, 8_000,
                                                       96_204, "home-1"))
        return self._job("spaces", self.space_rows)

    # ---- spaces

    def spaces(self) -> JobId:
        self.calls.append(("spaces",))
        return self._job("spaces", self.space_rows)

    def use_space(self, fingerprint: str) -> JobId:
        self.calls.append(("use_space", fingerprint))
        self.space_rows = tuple(
            replace(row, state="in use" if row.fingerprint == fingerprint else
                    "kept" if row.state == "in use" else row.state) for row in self.space_rows)
        return self._job("spaces", self.space_rows)

    def remove_space(self, fingerprint: str) -> JobId:
        self.calls.append(("remove_space", fingerprint))
        self.space_rows = tuple(row for row in self.space_rows if row.fingerprint != fingerprint)
        return self._job("spaces", self.space_rows)

    # ---- the lab

    def lab(self, models: Sequence[str], data: str = "judgements", ways: Sequence[str] = ()) -> JobId:
        self.calls.append(("lab", tuple(models), data, tuple(ways)))
        self.lab_view = lab_view()
        return self._job("lab", self.lab_view, replace(self.lab_view, rows=self.lab_view.rows[:2]))

    def lab_results(self) -> JobId:
        self.calls.append(("lab_results",))
        return self._job("lab-results", self.lab_view)
