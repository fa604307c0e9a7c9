"""Models of a session: listed, chosen, removed; another encoder is another space."""

from __future__ import annotations

import json
import queue
from pathlib import Path

import pytest

from sbert_desktop.app import models
from sbert_desktop.app.session import Session
from sbert_desktop.cli import main
from sbert_desktop.encoder.models import default_model_dir
from sbert_desktop.errors import EncoderError
from sbert_desktop.jobs import NullContext
from sbert_desktop.settings import Settings

pytestmark = pytest.mark.model
OWN = "all-MiniLM-L6-v2"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))


def make(folder: Path, *, scores: bool = False, languages: str = "") -> Path:
    """Makes a model folder of which nobody loads the weights."""
    source = default_model_dir()
    if source is None:
        pytest.skip("the bundled model is not installed")
    (folder if scores else folder / "1_Pooling").mkdir(parents=True)
    names = ["tokenizer.json", "tokenizer_config.json", "config.json"]
    for name in names if scores else [*names, "modules.json", "1_Pooling/config.json"]:
        (folder / name).write_bytes((source / name).read_bytes())
    if scores:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        one = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0"}}
        (folder / "config.json").write_text(json.dumps({**config, **one}), "utf-8")
    (folder / "model.safetensors").write_bytes(b"weights of " + folder.name.encode())
    (folder / "README.md").write_text(f"---\nlanguage: [{languages}]\n---\n", "utf-8")
    return folder


@pytest.fixture
def session(tmp_path: Path):
    opened = Session(tmp_path / "library", Settings(tmp_path / "settings.toml"))
    yield opened
    opened.close()


def active(views: tuple) -> list[str]:
    return [view.name for view in views if view.active]


def test_an_added_encoder_comes_into_use_on_wish_and_is_another_space(session: Session, tmp_path: Path) -> None:
    listed = models.add_model(session, str(make(tmp_path / "mine", languages="en, de, fr")), NullContext())
    assert [(view.name, view.bundled, view.kind) for view in listed] == [
        (OWN, True, "encoder"), ("mine", False, "encoder")]  # fmt: skip
    assert active(listed) == [OWN]
    assert models.multilingual(session) == ("mine",)
    before = session.expected_fingerprint()
    assert before == listed[0].fingerprint
    assert models.changes_encoder(session, "mine")
    assert active(models.use_model(session, "mine")) == ["mine"]
    assert session.expected_fingerprint() == listed[1].fingerprint != before
    assert not models.changes_encoder(session, "mine")
    with pytest.raises(EncoderError) as caught:
        models.remove_model(session, "mine")
    assert caught.value.code == "model-in-use"
    assert active(models.use_model(session, OWN)) == [OWN]
    assert [view.name for view in models.remove_model(session, "mine")] == [OWN]
    with pytest.raises(EncoderError) as caught:
        models.use_model(session, "mine")
    assert caught.value.code == "model-missing"


def test_a_changed_file_is_seen_and_such_a_model_is_not_taken(session: Session, tmp_path: Path) -> None:
    listed = models.add_model(session, str(make(tmp_path / "mine")), NullContext())
    assert {view.state for view in models.list_models(session, verify=True)} <= {"ready", "preparing"}
    (listed[1].path / "model.safetensors").write_bytes(b"weights of mina")
    found = models.list_models(session, verify=True)[1]
    assert found.state == "refused"
    assert "model.safetensors" in found.note
    with pytest.raises(EncoderError):
        models.use_model(session, "mine")
    assert session.settings.text(models.ENCODER) == ""


def test_the_first_cross_encoder_is_used_at_once_and_its_removal_is_said(session: Session, tmp_path: Path) -> None:
    assert session.models.open_cross_encoder() is None
    listed = models.add_model(session, str(make(tmp_path / "second", scores=True)), NullContext())
    assert (listed[1].kind, listed[1].active, listed[1].dimension) == ("cross-encoder", True, 0)
    assert active(listed) == [OWN, "second"]
    cross = session.second_stage.wait(NullContext())
    assert cross is not None
    assert cross.name == "second"
    models.remove_model(session, "second")
    assert session.second_stage.wait(NullContext()) is None
    assert any("second" in line for line in session.notices())


def test_the_encoder_changes_while_the_old_one_is_being_prepared(session: Session, tmp_path: Path, monkeypatch) -> None:
    from sbert_desktop.encoder import HashingEncoder

    models.add_model(session, str(make(tmp_path / "mine")), NullContext())
    closed: queue.Queue[str] = queue.Queue()

    class Named(HashingEncoder):
        def close(self) -> None:
            closed.put(self.info.name)

    def opening(model, **more):
        if model is None:
            models.use_model(session, "mine")  # the person changes her mind in the middle of it
        return Named(name=model.name if model else "own")

    monkeypatch.setattr("sbert_desktop.encoder.open_encoder", opening)
    assert session.encoder().info.name == "mine"
    assert closed.get(timeout=30) == "own"
    assert closed.empty()


def test_commands_add_use_and_remove_models(tmp_path: Path, capsys) -> None:
    def run(*words: str) -> tuple[int, dict]:
        status = main(["--library", str(tmp_path / "library"), "models", *words, "--json"])
        return status, json.loads(capsys.readouterr().out)

    status, told = run("add", str(make(tmp_path / "mine", languages="de")))
    assert status == 0
    assert [(model["name"], model["active"]) for model in told["models"]] == [(OWN, True), ("mine", False)]
    assert {"name", "path", "dimension", "max_tokens", "pooling", "sha256", "active"} <= set(told["models"][1])
    status, told = run("use", "mine")
    assert [model["name"] for model in told["models"] if model["active"]] == ["mine"]
    status, told = run("remove", "mine")
    assert (status, told["error"]["code"]) == (1, "model-in-use")
    assert run("use", OWN)[0] == 0
    status, told = run("remove", "mine")
    assert (status, [model["name"] for model in told["models"]]) == (0, [OWN])
    assert run("verify")[0] == 0
    assert run("use")[0] == 2
    assert run("add", str(tmp_path / "nowhere"))[1]["error"]["code"] == "model-missing"


def test_the_window_reads_the_library_with_the_encoder_that_was_chosen(tmp_path: Path, folder, monkeypatch) -> None:
    from sbert_desktop.app.facade import App
    from sbert_desktop.domain import Finished, Query, Started
    from sbert_desktop.encoder import HashingEncoder
    from tests.events import Inbox

    def named(model: Path | None) -> HashingEncoder:
        return HashingEncoder(name=model.name if model else "own")

    monkeypatch.setattr("sbert_desktop.encoder.open_encoder", lambda model, **more: named(model))
    monkeypatch.setattr(
        "sbert_desktop.encoder.expected_fingerprint", lambda model, **more: named(model).info.fingerprint)
    inbox = Inbox()
    app = App(tmp_path / "library", Settings(tmp_path / "settings.toml"))
    try:
        app.connect(inbox.post)
        # Else it may find the folder there, and look for changes in a run of its own.
        inbox.until(lambda event: isinstance(event, Finished) and event.job_id.startswith("start-"))
        inbox.result(app.add_folders([folder]))
        inbox.result(app.add_model(str(make(tmp_path / "mine"))))
        before = {event.job_id for event in inbox.events if isinstance(event, Started)}
        assert active(inbox.result(app.use_model("mine"))) == [OWN]  # it serves until "mine" has read the library

        def begun(event) -> bool:
            return isinstance(event, Started) and event.kind == "index" and event.job_id not in before

        inbox.until(begun)
        report = inbox.result(next(event.job_id for event in inbox.events if begun(event)))
        assert report.encoded_passages == report.passages > 0
        found = inbox.result(app.search(Query("oil and sharpen the hoe before winter")))
        assert found.documents[0].hits[0].path.name == "tools.txt"
        assert found.documents[0].hits[0].cosine is not None
        assert inbox.result(app.refresh()).model.name == "mine"
    finally:
        app.close()


def test_a_model_whose_files_changed_is_taken_again_in_its_place(session: Session, tmp_path: Path) -> None:
    source = make(tmp_path / "mine")
    listed = models.add_model(session, str(source), NullContext())
    assert (listed[1].source, listed[1].licence, listed[1].prompts) == (str(source), "", ())
    (listed[1].path / "model.safetensors").write_bytes(b"other weights")
    assert models.list_models(session, verify=True)[1].state == "refused"
    again = models.add_model(session, str(source), NullContext(), again="mine")
    assert [(view.name, view.state) for view in again][1:] == [("mine", "ready")]
    assert again[1].sha256 == listed[1].sha256
