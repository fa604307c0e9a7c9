"""Adding, fetching and removing models: checked before they count, and nothing left of what broke off."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from sbert_desktop import paths
from sbert_desktop.encoder import models, store
from sbert_desktop.encoder.cards import ModelCard, read_card
from sbert_desktop.errors import Cancelled, EncoderError
from sbert_desktop.jobs import spawn_child

pytestmark = pytest.mark.model
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))
    return paths.added_models()


@pytest.fixture
def small(model_dir: Path, tmp_path: Path) -> Path:
    """Gives a model folder of which nobody loads the weights."""
    folder = tmp_path / "a small one"
    (folder / "1_Pooling").mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json", "modules.json", "1_Pooling/config.json",
                 "sentence_bert_config.json"):  # fmt: skip
        (folder / name).write_bytes((model_dir / name).read_bytes())
    (folder / "model.safetensors").write_bytes(b"weights " * 100_000)
    (folder / "README.md").write_text("---\nlanguage:\n- de\n- fr\n---\n", "utf-8")
    return folder


class Job:
    """Notes the progress; cancels after so many checks."""

    paused = False

    def __init__(self, checks: int = 10**9) -> None:
        self.left = checks
        self.seen: list[tuple[str, int, int | None]] = []

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        self.seen.append((phase, done, total))

    def partial(self, result: object) -> None: ...


def left_of(home: Path) -> list[str]:
    return [entry.name for entry in home.iterdir()] if home.exists() else []


def test_a_model_is_added_from_a_folder_and_stands_on_its_own(small: Path, no_launch, home: Path) -> None:
    (small / "train.py").write_text("raise SystemExit")
    facts = store.add_model(str(small), no_launch, Job())
    assert facts.path == home / "a-small-one"
    assert (facts.dimension, facts.languages, facts.kind) == (384, ("de", "fr"), "encoder")
    assert not (facts.path / "train.py").exists()
    assert left_of(home) == ["a-small-one"]
    assert facts.path in store.list_models()
    assert store.find_model("a-small-one") == facts.path
    assert store.verify(facts.path) == []
    data = bytearray((facts.path / "model.safetensors").read_bytes())
    data[12345] ^= 1
    (facts.path / "model.safetensors").write_bytes(data)
    assert any("model.safetensors" in line for line in store.verify(facts.path))
    with pytest.raises(EncoderError) as caught:
        store.add_model(str(small), no_launch, Job())
    assert caught.value.code == "model-exists"


def test_what_is_refused_is_not_added(small: Path, no_launch, home: Path) -> None:
    (small / "model.safetensors").rename(small / "pytorch_model.bin")
    with pytest.raises(EncoderError, match="pickle"):
        store.add_model(str(small), no_launch, Job())
    with pytest.raises(EncoderError) as caught:
        store.add_model(str(small / "nowhere"), no_launch, Job())
    assert caught.value.code == "model-missing"
    with pytest.raises(EncoderError):
        store.add_model("../../etc", no_launch, Job())
    assert left_of(home) == []


def test_a_cancel_in_the_middle_of_copying_leaves_nothing(small: Path, no_launch, home: Path) -> None:
    with pytest.raises(Cancelled):
        store.add_model(str(small), no_launch, Job(checks=3))
    assert left_of(home) == []


def test_the_bundled_model_and_the_one_in_use_are_not_removed(small: Path, no_launch, home: Path) -> None:
    store.add_model(str(small), no_launch, Job())
    with pytest.raises(EncoderError) as caught:
        store.remove_model("all-MiniLM-L6-v2")
    assert caught.value.code == "model-bundled"
    with pytest.raises(EncoderError) as caught:
        store.remove_model("a-small-one", in_use=lambda folder: True)
    assert caught.value.code == "model-in-use"
    store.remove_model("a-small-one")
    assert left_of(home) == []
    with pytest.raises(EncoderError, match="all-MiniLM-L6-v2") as caught:
        store.remove_model("a-small-one")
    assert caught.value.code == "model-missing"


# ---------------------------------------------------------------- the hub


class Hub:
    """A hub on this machine that gives the files of a folder; ``break_off`` ends one after so many bytes."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.break_off: tuple[str, int] | None = None
        self.wrong: dict[str, bytes] = {}
        self.ranges = True
        self.given = 0
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def _handler(hub) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.asked.append(self.path)
                hub.headers.append(dict(self.headers))
                path = unquote(self.path).split("?")[0]
                if path == "/api/models/owner/tiny":
                    self.give(json.dumps(hub.listing()).encode())
                elif path.startswith("/owner/tiny/resolve/" + COMMIT + "/"):
                    self.send_response(302)
                    self.send_header("Location", "/store/" + path.split(COMMIT + "/")[1])
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif path.startswith("/store/"):
                    name = path.removeprefix("/store/")
                    data = hub.wrong.get(name, hub.files[name])
                    cut = hub.break_off[1] if hub.break_off and hub.break_off[0] == name else len(data)
                    self.give(data, cut)
                else:
                    self.send_error(404)

            def give(self, data: bytes, cut: int | None = None) -> None:
                asked = self.headers.get("Range") if hub.ranges else None
                start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                hub.given += len(data[start:cut])  # before it is sent: whoever has it may look at once
                self.wfile.write(data[start:cut])

            def log_message(self, *args: object) -> None: ...

        return Handler

    def listing(self) -> dict[str, object]:
        return {"sha": COMMIT, "siblings": [
            {"rfilename": name, "size": len(data),
             **({"lfs": {"sha256": hashlib.sha256(data).hexdigest()}} if name.endswith(".safetensors") else {})}
            for name, data in self.files.items()
        ]}  # fmt: skip


@pytest.fixture
def hub(small: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    files = {entry.relative_to(small).as_posix(): entry.read_bytes() for entry in small.rglob("*") if entry.is_file()}
    opened = Hub({**files, "pytorch_model.bin": b"pickle", "modeling.py": b"raise SystemExit",
                  "onnx/model.onnx": b"other"})  # fmt: skip
    monkeypatch.setenv("HF_ENDPOINT", opened.address)
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    yield opened
    opened.close()


def test_a_model_is_fetched_by_name_with_progress_and_nothing_of_the_person(hub: Hub, home: Path, no_launch) -> None:
    assert hub.asked == []
    job = Job()
    facts = store.add_model("owner/tiny", spawn_child, job)
    assert facts.path == home / "tiny"
    assert left_of(home) == ["tiny"]
    assert store.verify(facts.path) == []
    wanted = {name: data for name, data in hub.files.items() if not name.startswith(("pytorch", "modeling", "onnx"))}
    assert {name: (facts.path / name).read_bytes() for name in wanted} == wanted
    assert not [name for name in hub.asked if "pytorch_model" in name or "modeling" in name or "onnx" in name]
    assert "canary" not in str(hub.headers)
    fetched = [(done, total) for phase, done, total in job.seen if phase == "Fetching the model"]
    assert fetched[-1] == (sum(map(len, wanted.values())),) * 2


def test_a_folder_that_is_missing_is_not_looked_for_on_the_hub(hub: Hub, home: Path, no_launch) -> None:
    with pytest.raises(EncoderError, match="models add --hub owner/tiny") as caught:
        store.add_model("owner/tiny", no_launch, Job(), hub=False)
    assert caught.value.code == "model-missing"
    with pytest.raises(EncoderError) as caught:
        store.add_model("./owner", no_launch, Job(), hub=False)
    assert "hub" not in (caught.value.hint or "")
    assert hub.asked == []


def test_a_name_on_the_hub_is_not_taken_for_a_folder(
    hub: Hub, home: Path, tmp_path: Path, no_launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "owner" / "tiny").mkdir(parents=True)
    assert store.add_model("owner/tiny", spawn_child, Job(), hub=True).path == home / "tiny"
    assert hub.asked
    with pytest.raises(EncoderError, match="no name of a model on the hub"):
        store.add_model("./owner/tiny", no_launch, Job(), hub=True)


def _cut(hub: Hub) -> None:
    hub.break_off = ("model.safetensors", 300_000)


def _changed(hub: Hub) -> None:
    hub.wrong["model.safetensors"] = b"W" + hub.files["model.safetensors"][1:]


def _pickled(hub: Hub) -> None:
    del hub.files["model.safetensors"]


def _outside(hub: Hub) -> None:
    hub.files["modules.json"] = b'[{"type": "evil.Run", "path": ""}]'


@pytest.mark.parametrize(("harm", "code"), [(_changed, "fetch-failed"), (_pickled, "model-refused"),
                                            (_outside, "model-refused")])  # fmt: skip
def test_a_broken_or_refused_download_leaves_nothing(
    hub: Hub, home: Path, harm: Callable[[Hub], None], code: str
) -> None:
    harm(hub)
    with pytest.raises(EncoderError) as caught:
        store.add_model("owner/tiny", spawn_child, Job())
    assert caught.value.code == code
    assert left_of(home) == []


@pytest.mark.parametrize("ranges", [True, False])
def test_a_download_that_was_lost_goes_on_where_it_stopped(hub: Hub, home: Path, ranges: bool) -> None:
    hub.ranges = ranges
    _cut(hub)
    with pytest.raises(EncoderError) as caught:
        store.add_model("owner/tiny", spawn_child, Job())
    assert caught.value.code == "fetch-failed"
    assert left_of(home) == [".fetching-owner--tiny"]
    assert store.list_models()[1:] == []
    hub.break_off, hub.given = None, 0
    job = Job()
    assert store.verify(store.add_model("owner/tiny", spawn_child, job).path) == []
    assert left_of(home) == ["tiny"]
    weights = hub.files["model.safetensors"]
    assert (home / "tiny" / "model.safetensors").read_bytes() == weights
    assert not [entry for entry in (home / "tiny").rglob("*") if entry.name.startswith(".")]
    if ranges:
        assert hub.given < len(weights) - 250_000 + len(json.dumps(hub.listing()))  # small files came before, too
    total = sum(len(data) for name, data in hub.files.items() if (home / "tiny" / name).is_file())
    assert [(done, of) for phase, done, of in job.seen if phase == "Fetching the model"][-1] == (total, total)


def test_what_another_commit_left_is_not_taken_up_but_what_a_kill_left_is(hub: Hub, home: Path) -> None:
    import os

    _cut(hub)
    with pytest.raises(EncoderError):
        store.add_model("owner/tiny", spawn_child, Job())
    kept = home / ".fetching-owner--tiny"
    dead = home / ".adding-killed" / "tiny"
    dead.parent.mkdir()
    kept.rename(dead)
    for entry in dead.rglob("*"):
        os.utime(entry, (time.time() - 900,) * 2)
    hub.break_off, hub.given = None, 0
    store.add_model("owner/tiny", spawn_child, Job())
    assert hub.given < len(hub.files["model.safetensors"]) - 250_000 + 10_000
    store.remove_model("tiny")
    kept.mkdir()
    (kept / ".fetching.json").write_text(json.dumps({"model": "owner/tiny", "commit": "b" * 40}), "utf-8")
    (kept / "model.safetensors.part").write_bytes(b"W" * 300_000)
    assert store.verify(store.add_model("owner/tiny", spawn_child, Job()).path) == []


def test_a_model_whose_files_changed_is_got_again_in_its_place(small: Path, no_launch, home: Path) -> None:
    first = store.add_model(str(small), no_launch, Job())
    (first.path / "config.json").write_text("{}", "utf-8")
    with pytest.raises(Cancelled):
        store.add_model(str(small), no_launch, Job(checks=0), again="a-small-one")
    with pytest.raises(EncoderError, match="replaced"):
        store.add_model(str(small), no_launch, Job(), again="all-MiniLM-L6-v2")
    again = store.add_model(str(small), no_launch, Job(), again="a-small-one")
    assert again.path == first.path
    assert store.verify(again.path) == []
    assert left_of(home) == ["a-small-one"]


def test_a_cancelled_download_leaves_nothing_and_ends_its_child(hub: Hub, home: Path) -> None:
    children = []

    def launch(kind: str, **more):
        children.append(spawn_child(kind, **more))
        return children[-1]

    with pytest.raises(Cancelled):
        store.add_model("owner/tiny", launch, Job(checks=0))
    assert left_of(home) == []
    assert not children[0].alive


def test_an_unknown_name_and_an_unsafe_hub_are_said(hub: Hub, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EncoderError) as caught:
        store.add_model("owner/nothing", spawn_child, Job())
    assert caught.value.code == "model-missing"
    monkeypatch.setenv("HF_ENDPOINT", "http://example.invalid")
    with pytest.raises(EncoderError, match="not encrypted"):
        store.add_model("owner/tiny", spawn_child, Job())
    assert left_of(home) == []


def test_what_a_kill_left_is_cleared_when_it_is_old(small: Path, no_launch, home: Path) -> None:
    import os

    for name, age in ((".adding-old", 3 * 86400), (".adding-new", 0)):
        (home / name).mkdir(parents=True)
        stamp = (home / name).stat().st_mtime - age
        os.utime(home / name, (stamp, stamp))
    store.add_model(str(small), no_launch, Job())
    assert sorted(left_of(home)) == [".adding-new", "a-small-one"]


def test_families_are_known_by_their_names(small: Path, tmp_path: Path) -> None:
    expected = {
        "multilingual-e5-small": {"query": "query: ", "document": "passage: "},
        "bge-small-en-v1.5": {"query": "Represent this sentence for searching relevant passages: "},
        "multilingual-e5-large-instruct": {}, "bge-m3": {}, "phrase5": {},
    }  # fmt: skip
    for name, prompts in expected.items():
        folder = tmp_path / name
        small.rename(folder)
        assert models.describe(folder).prompts == prompts, name
        folder.rename(small)
    folder = tmp_path / "e5-own"
    small.rename(folder)
    (folder / "config_sentence_transformers.json").write_text(
        '{"prompts": {"query": "ask: ", "passage": "tell: ", "document": "", "odd": null}}', "utf-8")  # fmt: skip
    assert models.describe(folder).prompts == {"query": "ask: ", "document": "tell: "}


def named(place: Path, small: Path, *, weights: bytes, said: str = "") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(small, place)
    (place / "model.safetensors").write_bytes(weights)
    config = json.loads((place / "config.json").read_text("utf-8"))
    (place / "config.json").write_text(json.dumps({**config, "_name_or_path": said}), "utf-8")
    return place


def test_a_folder_whose_name_says_nothing_is_called_after_what_is_around_it(
    small: Path, no_launch, tmp_path: Path
) -> None:
    places = {
        tmp_path / "taxes-tuned" / "model": "taxes-tuned",
        tmp_path / "letters" / "output" / "checkpoint-500": "letters",
        tmp_path / "models--someone--small-one" / "snapshots" / COMMIT: "small-one",
    }
    for number, (place, name) in enumerate(places.items()):
        made = named(place, small, weights=b"%d" % number)
        assert store.add_model(str(made), no_launch, Job()).name == name
    deep = tmp_path / "tmp" / "output" / "models" / "export"
    told = named(deep / "model", small, weights=b"9", said="/somewhere/multilingual-e5-small")
    facts = store.add_model(str(told), no_launch, Job())
    assert facts.name == "multilingual-e5-small"
    assert facts.prompts["query"] == "query: "
    silent = named(deep / "checkpoint-1", small, weights=b"10")
    assert store.add_model(str(silent), no_launch, Job()).name == "checkpoint-1"


def test_another_model_of_the_same_name_gets_a_number_and_the_same_one_is_told(
    small: Path, no_launch, tmp_path: Path, home: Path
) -> None:
    places = [named(tmp_path / place / "tuned", small, weights=place.encode()) for place in ("a", "b", "c")]
    names = [store.add_model(str(place), no_launch, Job()).name for place in places]
    assert names == ["tuned", "tuned-2", "tuned-3"]
    for place in places:
        with pytest.raises(EncoderError) as caught:
            store.add_model(str(place), no_launch, Job())
        assert caught.value.code == "model-exists"
    assert sorted(left_of(home)) == sorted(names)


def test_the_card_tells_licence_source_and_what_a_tuned_model_was_made_from(
    small: Path, no_launch, home: Path) -> None:
    (small / "README.md").write_text(
        "---\nlanguage: en\nlicense: apache-2.0\n---\n\n# home-1\n\nTuned on one person's own judgements with SBERT "
        "Desktop.\n\n| | |\n|---|---|\n| Base | all-MiniLM-L6-v2 |\n", "utf-8")
    before = time.time() - 1
    card = read_card(store.add_model(str(small), no_launch, Job()).path)
    assert (card.licence, card.base) == ("apache-2.0", "all-MiniLM-L6-v2")
    assert card.source == str(small.resolve())
    assert card.added > before
    (small / "README.md").write_text("---\nlicense:\n- mit\nbase_model: x\n---\n| Base | x |\n", "utf-8")
    assert read_card(small) == ModelCard("mit")
    assert read_card(small / "nowhere") == ModelCard()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_card_that_is_a_pipe_or_goes_on_for_ever_says_nothing_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "README.md")
    assert read_card(tmp_path) == ModelCard()
    (tmp_path / "README.md").unlink()
    (tmp_path / "README.md").write_text("---" + "\n" * 900_000, "utf-8")
    before = time.thread_time()
    assert read_card(tmp_path) == ModelCard()
    assert time.thread_time() - before < 5  # it would have taken hours
