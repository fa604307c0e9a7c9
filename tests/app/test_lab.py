"""The model lab: what it tells of models and ways on judgements and on files, on the hashing encoder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop import paths
from sbert_desktop.app import lab, lab_languages
from sbert_desktop.app.lab import last_results, run_lab
from sbert_desktop.app.lab_data import Resamples, interval, read_judged
from sbert_desktop.app.views import UnreadLanguage
from sbert_desktop.cli import main
from sbert_desktop.encoder.models import default_model_dir
from sbert_desktop.errors import Cancelled, EncoderError, UsageError
from sbert_desktop.jobs import NullContext
from sbert_desktop.training.resampling import Draws

OWN = "all-MiniLM-L6-v2"
WORDS = [
    "harbour", "tide", "anchor", "sail", "spade", "hoe", "compost", "seed", "oven", "dough", "leek", "stock", "violin",
    "sonata", "bow", "choir",
]  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))
    # Few texts: the linear algebra of many, on all cores beside other tests, is most of what these would cost.
    monkeypatch.setattr(lab, "_CLOUD", 40)
    if default_model_dir() is None:
        pytest.skip("the bundled model is not installed")


class Heard(NullContext):
    """Keeps tables, and cancels after so many checks."""

    def __init__(self, checks: int = 10**9) -> None:
        self.tables: list = []
        self.phases: list[str] = []
        self.left = checks

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled

    def partial(self, result: object) -> None:
        self.tables.append(result)

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        self.phases.append(phase)


def sha(number: int) -> str:
    return f"{number:064x}"


def judge_pairs(session, count: int) -> None:
    """Judges pairs: the same ones share three words, of the different ones a few do as well."""
    lot = np.random.default_rng(2)
    for n in range(count):
        words = [WORDS[place] for place in lot.permutation(len(WORDS))[:10]]
        same = n % 2 == 0
        shared = 3 if same or n % 7 == 0 else 0
        left, right = " ".join(words[:5]) + f" no{n}", " ".join([*words[:shared], *words[5:9]]) + f" nr{n}"
        session.library.judge("same", "same" if same else "different", "", sha(2 * n), 0, 9, left,
                              other=(sha(2 * n + 1), 0, 9, right))  # fmt: skip


def test_models_and_ways_are_measured_on_the_judgements(session):
    judge_pairs(session, 70)
    heard = Heard()
    view = run_lab(session, (), "judgements", ("dimensions", "int8"), heard)
    assert (view.data, view.n) == ("70 of your judgements (pairs)", 70)
    rows = {row.way: row for row in view.rows}
    assert list(rows) == ["as it is", "pca 128", "cut 128", "pca 64", "cut 64", "int8"]
    plain = rows["as it is"]
    assert (plain.model, plain.metric, plain.dimension, plain.change) == (OWN, "ap", 256, None)
    assert plain.low < plain.quality < plain.high
    assert 0.55 < plain.quality < 1.0
    assert -0.1 < plain.mean_cosine < 0.5
    assert 0 <= plain.isotropy <= 1
    assert plain.speed > 0
    assert plain.size == sum(path.stat().st_size for path in default_model_dir().rglob("*") if path.is_file())
    assert rows.pop("pca 128").note == "Too few texts to learn 128 directions from."
    assert "learned from these same texts" in rows["pca 64"].note
    assert "learned" not in rows["cut 64"].note
    for row in list(rows.values())[1:]:
        assert row.change == pytest.approx(row.quality - plain.quality)
        assert row.change_low <= row.change <= row.change_high
        assert "of the room" in row.note
    # Paired: the same draws. The interval of the small difference is far narrower than that of the quality.
    assert rows["int8"].change_high - rows["int8"].change_low < (plain.high - plain.low) / 5
    assert abs(rows["int8"].change) < 0.01
    assert rows["cut 64"].change_high - rows["cut 64"].change_low > 0.05
    assert [len(table.rows) for table in heard.tables] == [1, 2, 3, 4, 5, 6]
    again = run_lab(session, (OWN,), "judgements", (), NullContext())
    assert (again.rows[0].quality, again.rows[0].low) == (plain.quality, plain.low)


def test_what_was_measured_last_is_shown_again_and_a_damaged_file_is_nothing(session):
    assert last_results(session) is None
    judge_pairs(session, 30)
    view = run_lab(session, (OWN,), "judgements", ("int8",), NullContext())
    assert last_results(session) == view
    with pytest.raises(Cancelled):
        run_lab(session, (OWN,), "judgements", (), Heard(checks=5))
    assert last_results(session) == view
    kept = session.library_path / "lab.json"
    odd = kept.read_text().replace(f'"model": "{OWN}"', '"model": 3')
    assert odd != kept.read_text()
    for text in (odd, "", "[1]", '{"format": 1}', '{"format": 1, "table": {"rows": [{}], "data": "", "n": 1}}', "\0"):
        kept.write_text(text)
        assert last_results(session) is None


def test_lab_results_survive_a_look_over_the_library(session, folder):
    from sbert_desktop.app.doctor import run_doctor
    from sbert_desktop.app.indexing import IndexRequest, run_index

    run_index(session, IndexRequest((folder,)), NullContext())
    before = run_lab(session, (OWN,), "judgements", (), NullContext())
    assert any("passages of your own" in note for note in before.notes)
    checks = run_doctor(session, NullContext(), repair=True)
    assert all(check.ok for check in checks if "model" not in check.name.lower())
    assert last_results(session) == before


def test_too_few_judgements_are_a_row_without_quality_and_a_sentence(session):
    for count, said in ((0, "0 of at least 8"), (3, "3 of at least 8")):
        judge_pairs(session, count)
        view = run_lab(session, (OWN,), "judgements", ("int8",), NullContext())
        assert [row.quality for row in view.rows] == [None, None]
        assert said in view.rows[0].note
        assert any(said in note for note in view.notes)
        assert view.rows[0].mean_cosine is not None
        assert view.rows[0].speed


def test_one_answer_only_and_other_kinds_are_said(session):
    for n in range(10):
        other = (sha(2 * n + 1), 0, 9, f"other {n}")
        session.library.judge("same", "same", "", sha(2 * n), 0, 9, f"text {n}", other=other)
    session.library.judge("relevance", "relevant", "which tide", sha(500), 0, 9, "the tide at noon")
    view = run_lab(session, (OWN,), "judgements", (), NullContext())
    assert view.rows[0].quality is None
    assert "judged different" in view.rows[0].note
    assert any("1 judgement of another kind" in note for note in view.notes)
    answers = run_lab(session, (OWN,), "judgements:answers", (), NullContext())
    assert (answers.rows[0].metric, answers.rows[0].quality) == ("ndcg@10", None)
    with pytest.raises(UsageError, match="no judgements of the kind"):
        run_lab(session, (OWN,), "judgements:moods", (), NullContext())
    with pytest.raises(UsageError, match="no way to use"):
        run_lab(session, (OWN,), "judgements", ("magic",), NullContext())


def test_questions_are_ranked_over_all_judged_passages(session):
    for n in range(12):
        one, other = WORDS[n], WORDS[(n + 1) % 12]
        said = (("relevant", f"{one} here {n}"), ("not relevant", f"{other} there {n}"))
        for place, (verdict, text) in enumerate(said):
            session.library.judge("relevance", verdict, f"where is the {one}", sha(10 * n + place), 0, 9, text)
    view = run_lab(session, (OWN,), "judgements", ("int8",), NullContext())
    assert (view.rows[0].metric, view.n) == ("ndcg@10", 12)
    # Two passages hold each word, the one that answers and one judged for another question.
    assert 0.5 < view.rows[0].quality <= 1.0


def test_a_model_that_cannot_be_read_is_a_row_with_a_note(session, monkeypatch):
    judge_pairs(session, 20)
    broken = paths.added_models() / "broken"
    broken.mkdir(parents=True)
    (broken / "config.json").write_text("{")
    view = run_lab(session, ("broken", "nowhere", OWN), "judgements", (), NullContext())
    assert [row.model for row in view.rows] == ["broken", "nowhere", OWN]
    assert [row.quality is None for row in view.rows] == [True, True, False]
    assert all(row.note for row in view.rows[:2])

    def refuses(*_: object, **__: object) -> None:
        raise EncoderError("backend-failed", "The model cannot run here.")

    monkeypatch.setattr("sbert_desktop.encoder.open_encoder", refuses)
    failed = run_lab(session, (OWN,), "judgements", ("int8",), NullContext())
    assert [(row.quality, row.note) for row in failed.rows] == [(None, "The model cannot run here.")]


def test_poolings_are_rows_of_their_own_from_one_pass(session, monkeypatch):
    judge_pairs(session, 40)
    asked = []

    class Fake:
        def __init__(self, folder, names, *, launch, device):
            self.names = tuple(names)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            asked.append("closed")

        def encode(self, texts, context, *, queries=False):
            asked.append(len(texts))
            from sbert_desktop.encoder import HashingEncoder

            whole = HashingEncoder().encode_passages(texts)
            return {name: np.roll(whole, place, axis=1) for place, name in enumerate(self.names)}

    monkeypatch.setattr("sbert_desktop.encoder.poolings.Poolings", Fake)
    monkeypatch.setattr(lab, "_encoded", lambda session, view, bench: (
        lab.Cloud(np.concatenate([Fake("", ("mean",), launch=None, device="").encode(bench.texts, None)["mean"]]),
                  np.empty((0, 256), np.float32)), 50.0))  # fmt: skip
    session.settings.set("advanced.encoder", "auto")
    monkeypatch.delenv("SBERT_DESKTOP_ADVANCED_ENCODER")
    view = run_lab(session, (OWN,), "judgements", ("pooling",), NullContext())
    assert [row.way for row in view.rows] == ["as it is", "cls", "max", "mean_sqrt_len", "mean_last_2", "mean_last_4"]
    assert all(row.change == pytest.approx(0.0, abs=1e-6) for row in view.rows[1:])
    assert "The same as it is." in view.rows[1].note
    assert asked[-1] == "closed"


FILES = {
    "sts.csv": ("sentence1,sentence2,score\nred bridge,red bridge,5\nold mill wheel,old mill wheels stand,3\n"
                "wide sea,compost dough,0\n", "spearman"),
    "pairs.csv": ("text_a,text_b,label\nred bridge,a red bridge,1\nold mill,fast car,0\nblue sea,blue sea air,1\n",
                  "ap"),
    "triplets.csv": ("anchor,positive,negative\nred bridge,a red bridge,old mill\n", "triplet accuracy"),
    "classes.csv": ("text,label\n" + "".join(f"{w} {n},{w}\n" for n in range(4) for w in ("sea", "mill")), "accuracy"),
    "lists.csv": ("query,text,label\nred bridge,a red bridge,1\nred bridge,blue sea,0\n", "map"),
    "lists.jsonl": ('{"query": "sea", "positive": ["blue sea"], "negative": ["mill"]}\n', "map"),
    "two.csv": ("source,target\nred bridge,red bridge b\nold mill,mill old\n", "accuracy"),
}  # fmt: skip


def test_every_file_that_evaluate_reads_can_be_measured_on(session, tmp_path):
    for name, (text, metric) in FILES.items():
        (tmp_path / name).write_text(text)
        row = run_lab(session, (OWN,), str(tmp_path / name), ("int8",), NullContext()).rows[0]
        assert (row.metric, row.quality) == (metric, pytest.approx(1.0)), name
        assert row.low is None or name == "classes.csv"  # of so few no interval can be trusted
        assert ("Too little of what was judged is independent" in row.note) == (row.low is None), name
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "a green bridge"}\n{"_id": "d2", "text": "sea"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "bridge"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\n")
    row = run_lab(session, (OWN,), str(tmp_path), (), NullContext()).rows[0]
    assert (row.metric, row.quality) == ("ndcg@10", 1.0)
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="none of the known sets of columns; it has: a, b"):
        read_judged(session, str(tmp_path / "odd.csv"))
    with pytest.raises(UsageError, match="There is no file"):
        read_judged(session, str(tmp_path / "none.csv"))


def test_labels_of_one_document_are_drawn_together():
    clusters = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int64)
    values = np.array([1.0] * 4 + [0.0] * 4)
    drawn = Resamples(Draws(clusters)).scores(lambda units: float(values[units].mean()), lambda: None)
    assert set(np.round(drawn, 6)) == {0.0, 0.5, 1.0}
    assert interval(drawn) == (0.0, 1.0)
    free = Resamples(Draws(np.arange(8))).scores(lambda units: float(values[units].mean()), lambda: None)
    assert len(set(np.round(free, 6))) > 5
    assert interval(np.where(np.arange(1000) % 5 == 0, np.nan, free)) is None


def test_languages_that_the_model_does_not_know_are_counted(session, tmp_path, monkeypatch):
    from sbert_desktop.app.indexing import IndexRequest, run_index

    german = "Der alte Turm am Hafen wurde im Winter von den Fischern neu gestrichen, Blatt {}. Das Wasser ist kalt."
    english = "The old tower at the harbour was painted again by the fishermen in winter, sheet {}. The water is cold."
    root = tmp_path / "papers"
    root.mkdir()
    for n in range(4):
        (root / f"de{n}.txt").write_text(german.format(n), "utf-8")
        (root / f"en{n}.txt").write_text(english.format(n), "utf-8")
    run_index(session, IndexRequest((root,)), NullContext())
    monkeypatch.setattr(lab_languages, "_known", lambda session: frozenset({"en"}))
    assert lab_languages.unknown_languages(session) == (UnreadLanguage("de", "German", 4),)
    monkeypatch.setattr(lab_languages, "_known", lambda session: frozenset({"en", "de"}))
    assert lab_languages.unknown_languages(session) == ()
    monkeypatch.setattr(lab_languages, "_known", lambda session: frozenset())
    assert lab_languages.unknown_languages(session) == ()


def test_the_command_line_prints_the_table_and_shows_it_again(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "lib"))
    (tmp_path / "sts.csv").write_text(FILES["sts.csv"][0])
    arguments = ["lab", "--models", OWN, "--data", str(tmp_path / "sts.csv"), "--ways", "dimensions", "int8"]
    assert main([*arguments, "--json", "--csv", str(tmp_path / "out.csv")]) == 0
    table = json.loads(capfd.readouterr().out)
    assert {"rows", "data", "n", "made", "notes"} == set(table)
    assert [row["way"] for row in table["rows"]] == ["as it is", "pca 128", "cut 128", "pca 64", "cut 64", "int8"]
    assert (tmp_path / "out.csv").read_text("utf-8-sig").startswith("model,way,metric,quality")
    assert main(["lab", "--last"]) == 0
    shown = capfd.readouterr().out
    assert "spearman 1.0000" in shown
    assert "int8" in shown
    assert main(["lab", "--ways", "magic"]) == 2
    assert main(["lab", "--data", str(tmp_path / "none.csv"), "--json"]) == 1
    assert json.loads(capfd.readouterr().out)["error"]["code"] == "file-missing"


def test_the_window_gets_the_table_row_by_row_and_the_same_again(tmp_path, settings):
    from sbert_desktop.app.facade import App
    from sbert_desktop.app.training_views import LabView
    from tests.events import Inbox

    (tmp_path / "sts.csv").write_text(FILES["sts.csv"][0])
    inbox = Inbox()
    app = App(tmp_path / "library", settings)
    app.connect(inbox.post)
    try:
        assert inbox.result(app.lab_results()) is None
        job = app.lab([OWN], str(tmp_path / "sts.csv"), ["int8"])
        view = inbox.result(job)
        assert [len(table.rows) for table in inbox.partials(job, LabView)] == [1, 2]
        assert inbox.result(app.lab_results()) == view
        assert inbox.result(app.export_lab(view, tmp_path / "lab.csv")).stat().st_size > 100
        assert inbox.result(app.unread_languages()) == ()
    finally:
        app.close()


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.timeout(300)
def test_poolings_of_the_real_model_are_measured_through_the_child(session, tmp_path, monkeypatch):
    rows = "".join(f"the {word} by the sea {n},a {word} at the shore {n},{n % 6}\n" for n, word in enumerate(WORDS))
    (tmp_path / "sts.csv").write_text(f"sentence1,sentence2,score\n{rows}")
    session.settings.set("advanced.encoder", "auto")
    monkeypatch.delenv("SBERT_DESKTOP_ADVANCED_ENCODER")
    view = run_lab(session, (OWN,), str(tmp_path / "sts.csv"), ("pooling",), NullContext())
    assert [row.way for row in view.rows] == ["as it is", "cls", "max", "mean_sqrt_len", "mean_last_2", "mean_last_4"]
    assert all(row.quality is not None and row.dimension == 384 for row in view.rows)
    root = next(row for row in view.rows if row.way == "mean_sqrt_len")
    assert root.change == pytest.approx(0.0, abs=0.02)  # of unit length it is the model's own mean, but for precision
