"""The contract of DESIGN section 6: keys, exit statuses, one JSON object, plain errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sbert_desktop.cli import main


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "papers"
    (root / "sub").mkdir(parents=True)
    (root / "rain.txt").write_text("The rain gauge on the roof filled twice in October. We emptied it by hand.\n")
    (root / "sub" / "choir.md").write_text("# Choir\n\nThe altos rehearse on Tuesday. Bring the green folder.\n")
    (root / "bad.pdf").write_bytes(b"%PDF-1.4 nothing here")
    return root


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "library"))

    def call(*arguments) -> tuple[int, dict, str]:
        capfd.readouterr()
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as error:
            status = int(error.code or 0)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, json.loads(out) if out.strip().startswith("{") else {"out": out}, err

    return call


INDEX_KEYS = {
    "documents",
    "passages",
    "problems",
    "added",
    "changed",
    "unchanged",
    "moved",
    "removed",
    "encoded_passages",
    "seconds",
    "passages_per_second",
    "tokens_per_second",
    "backend",
    "device",
}
HIT_KEYS = {
    "path",
    "score",
    "score_kind",
    "cosine",
    "bm25",
    "text",
    "start",
    "end",
    "page",
    "location",
    "best_sentence",
    "stale",
}


def test_index_status_problems_and_search_keep_their_keys(run, folder):
    status, report, _ = run("index", folder, "--json")
    assert status == 0
    assert set(report) >= INDEX_KEYS
    assert (report["documents"], report["problems"], report["added"]) == (2, 1, 3)

    status, state, _ = run("--json", "status")
    assert status == 0
    assert set(state) >= {"library", "folders", "documents", "passages", "problems", "model", "index", "stale"}
    assert set(state["folders"][0]) >= {"path", "documents", "passages", "problems"}
    assert set(state["model"]) >= {"name", "fingerprint", "dimension", "max_tokens", "pooling"}
    assert set(state["index"]) >= {"kind", "rows", "recall_at_10"}
    assert (state["documents"], state["index"]["kind"]) == (2, "exact")

    status, listed, _ = run("problems", "--json")
    assert status == 0
    assert [set(p) >= {"path", "code", "message", "hint"} for p in listed["problems"]] == [True]
    assert listed["problems"][0]["path"].endswith("bad.pdf")

    status, answer, _ = run("search", "rain gauge", "--json")
    assert status == 0
    assert set(answer) >= {"query", "mode", "milliseconds", "hits"}
    first = answer["hits"][0]
    assert set(first) >= HIT_KEYS
    assert first["path"].endswith("rain.txt")
    assert 0 <= first["score"] <= 1
    assert first["text"][0:8] == "The rain"
    assert first["best_sentence"] in first["text"]


def test_json_is_one_object_and_nothing_else(run, folder):
    for command in (["index", folder], ["status"], ["search", "choir"], ["models", "list"], ["problems"]):
        _, answer, _ = run(*command, "--json")
        assert "out" not in answer, command


def test_similar_extract_and_forget(run, folder):
    run("index", folder, "--json")
    status, answer, _ = run("similar", folder / "rain.txt", "--json")
    assert status == 0
    assert [Path(h["path"]).name for h in answer["hits"]] == ["choir.md"]

    status, answer, _ = run("extract", folder / "sub" / "choir.md", folder / "bad.pdf", "--json")
    assert status == 0
    good, bad = answer["files"]
    assert set(good) >= {"path", "format", "language", "text", "blocks", "problems"}
    assert "altos rehearse" in good["text"]
    assert bad["problems"][0]["code"]

    status, answer, _ = run("forget", folder, "--json")
    assert status == 0
    assert set(answer) >= {"documents", "passages"}
    assert answer["documents"] == 2
    assert run("status", "--json")[1]["documents"] == 0
    assert (folder / "rain.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (["search", ""], 2, "empty"),
        (["search", "   "], 2, "empty"),
        (["search", "x", "--top", "0"], 2, "0"),
        (["search", "x", "--top", "-3"], 2, "-3"),
        (["search", "x", "--after", "yester"], 2, "yester"),
        (["search", "x", "--mode", "best"], 2, "best"),
        (["search"], 2, "QUERY"),
        (["dance"], 2, "dance"),
        (["index", "/no/such/folder"], 1, "no folder"),
        (["forget", "/no/such/folder"], 1, "not a folder of this library"),
        (["similar", "/no/such/file"], 1, "no"),
        (["extract", "/no/such/file"], 1, "cannot be read"),
        (["encode", "/no/such/file", "-o", "x.npy"], 1, "no file"),
        (["evaluate", "sts", "/no/such/file"], 1, "no file"),
        (["evaluate", "retrieval", "/no/such/dir"], 1, "corpus.jsonl"),
    ],
)
def test_bad_input_is_one_plain_line_and_the_right_status(run, folder, arguments, status, word):
    run("index", folder, "--json")
    got, _, err = run(*arguments)
    assert got == status
    assert word in err
    lines = [
        line for line in err.strip().splitlines() if not line.startswith("usage:") and line.startswith("sbert-desktop")
    ]
    assert len(lines) == 1


def test_commands_on_a_missing_library_say_so_and_make_nothing(run, tmp_path):
    status, answer, err = run("search", "x", "--json")
    assert status == 1
    assert answer["error"]["code"] == "library-missing"
    assert "library" in err
    assert not (tmp_path / "library").exists()


def test_file_instead_of_folder_and_library_in_the_way_of_a_file(run, folder, tmp_path):
    status, _, err = run("index", folder / "rain.txt")
    assert status == 1
    assert "is a file" in err
    (tmp_path / "block").write_text("x")
    status, _, err = run("--library", tmp_path / "block", "index", folder)
    assert status == 1
    assert len(err.strip().splitlines()) == 1


def test_second_writer_is_named_or_waits(run, folder, tmp_path):
    run("index", folder, "--json")
    code = (
        "import sys\nfrom pathlib import Path\nfrom sbert_desktop.library import open_library\n"
        "lib = open_library(Path(sys.argv[1]))\n"
        "with lib.writer():\n    print('held', flush=True)\n    sys.stdin.readline()\nlib.close()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "library")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "held\n"
        status, _, err = run("index", "--no-wait")
        assert status == 1
        assert str(holder.pid) in err
        assert run("search", "choir", "--json")[0] == 0  # readers are never held up
    finally:
        holder.communicate("go\n", timeout=60)
    assert run("index", "--no-wait", "--json")[0] == 0


@pytest.mark.skipif(os.name != "posix", reason="names are Unicode there")
def test_names_that_are_not_utf8_come_out_with_their_bytes(run, folder):
    raw = os.fsencode(folder) + b"/caf\xe9.txt"
    with open(raw, "wb") as stream:
        stream.write(b"The lighthouse keeper counted gulls all morning.\n")
    assert run("index", folder, "--json")[1]["documents"] == 3
    hit = run("search", "lighthouse gulls", "--json")[1]["hits"][0]
    assert bytes.fromhex(hit["path_hex"]) == raw
    assert "\ufffd" in hit["path"]


def test_encode_writes_unit_rows_for_every_line(run, tmp_path):
    import numpy as np

    (tmp_path / "lines.txt").write_text("one\n\nthree little words\n")
    status, answer, _ = run("encode", tmp_path / "lines.txt", "-o", tmp_path / "out.npy", "--json")
    assert status == 0
    assert set(answer) >= {"n", "dimension", "seconds", "passages_per_second", "tokens_per_second", "backend"}
    vectors = np.load(tmp_path / "out.npy")
    assert vectors.shape == (3, answer["dimension"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_evaluate_names_the_columns_it_found(run, tmp_path):
    (tmp_path / "x.csv").write_text("left,right,score\na,b,1\n")
    status, _, err = run("evaluate", "sts", tmp_path / "x.csv")
    assert status == 1
    assert "left, right, score" in err
    (tmp_path / "y.csv").write_text("sentence1,sentence2,score\na b c,a b c,5\na b c,d e f,0\na b c,a b x,3\n")
    status, answer, _ = run("evaluate", "sts", tmp_path / "y.csv", "--json")
    assert status == 0
    assert answer["spearman_cosine"] == pytest.approx(1.0)


def test_interrupt_ends_with_130_and_keeps_what_was_committed(tmp_path, folder):
    import signal

    for n in range(3000):
        (folder / f"{n}.txt").write_text(f"Entry {n} of the logbook tells about sail number {n * 7}.\n")
    env = {**os.environ, "SBERT_DESKTOP_ADVANCED_ENCODER": "hashing", "SBERT_DESKTOP_LIBRARY": str(tmp_path / "lib2")}
    process = subprocess.Popen(
        [sys.executable, "-m", "sbert_desktop", "index", str(folder)],
        env=env,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if "Reading" in line or "Passages" in line:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode in {0, 130}
    if process.returncode == 130:
        assert "What was committed stays" in err
    assert "Traceback" not in err


def test_encode_gives_a_row_for_each_line_and_spares_special_files(run, tmp_path):
    import numpy as np

    (tmp_path / "lines.txt").write_bytes("a\fb\r\nc\u2028d\n\nlast".encode())
    status, answer, _ = run("encode", tmp_path / "lines.txt", "-o", tmp_path / "out.npy", "--json")
    assert (status, answer["n"]) == (0, 4)
    assert np.load(tmp_path / "out.npy").shape[0] == 4
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        status, answer, _ = run("encode", tmp_path / "lines.txt", "-o", tmp_path / "pipe", "--json")
        assert (status, answer["error"]["code"]) == (1, "output-unwritable")
        assert not (tmp_path / "pipe").is_file()


@pytest.mark.parametrize(
    ("kind", "text", "code"),
    [
        ("sts", "sentence1,sentence2,score\na b,a b,1\n", "one-score"),
        ("sts", "sentence1,sentence2,score\na b,a b,1\nc d,e f,nan\n", "not-a-number"),
        ("triplets", "anchor,positive,negative\na,b\n", "row-short"),
    ],
)
def test_judged_data_that_measures_nothing_is_refused(run, tmp_path, kind, text, code):
    (tmp_path / "data.csv").write_text(text)
    status, answer, _ = run("evaluate", kind, tmp_path / "data.csv", "--json")
    assert (status, answer["error"]["code"]) == (1, code)


def test_retrieval_set_in_another_form_is_refused(run, tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"title": "no id"}\n')
    (tmp_path / "queries.jsonl").write_text("[]\n")
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n")
    status, answer, _ = run("evaluate", "retrieval", tmp_path, "--json")
    assert (status, answer["error"]["code"]) == (1, "bad-retrieval-set")


@pytest.mark.parametrize(
    ("qrels", "code"),
    [
        ("query-id\tcorpus-id\tscore\n", "nothing-judged"),
        ("q1\telsewhere\t1\n", "nothing-judged"),
        ("q1\td1\t0\n", "nothing-judged"),
        ("q1\td1\tnan\n", "bad-retrieval-set"),
        ("q1 d1 1\n", "bad-retrieval-set"),
    ],
)
def test_retrieval_set_that_measures_nothing_is_refused(run, tmp_path, qrels, code):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "a green bridge"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "bridge"}\n')
    (tmp_path / "qrels.tsv").write_text(qrels)
    status, answer, _ = run("evaluate", "retrieval", tmp_path, "--json")
    assert (status, answer["error"]["code"]) == (1, code)


@pytest.mark.parametrize("row", ["q1\td1\t1\n", "q1\t0\td1\t1\n"])
def test_retrieval_set_in_the_folders_of_beir_and_with_byte_order_marks(run, tmp_path, row):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "a green bridge"}\n', "utf-8-sig")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "bridge"}\n', "utf-8-sig")
    (tmp_path / "qrels" / "test.tsv").write_text(row, "utf-8-sig")
    answer = run("evaluate", "retrieval", tmp_path, "--json")[1]
    assert (answer["n"], answer["ndcg@10"]) == (1, 1.0)


@pytest.mark.parametrize("weight", ["nan", "-0.1", "5"])
def test_weight_of_words_outside_its_range_is_wrong_usage(run, weight):
    status, answer, _ = run("search", "choir", "--words-weight", weight, "--json")
    assert (status, answer["error"]["code"]) == (2, "bad-arguments")


def test_update_is_asked_for_only_where_another_model_needs_one(run, folder, monkeypatch, tmp_path):
    from sbert_desktop.app import models
    from sbert_desktop.app.session import Session

    def use(session, name):
        session.settings.set(models.ENCODER, name)
        return models.list_models(session)

    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))  # where the settings are
    monkeypatch.setattr(models, "use_model", use)
    assert "index" not in run("models", "use", "first")[2]  # there is no library
    run("index", folder)
    assert "index" not in run("models", "use", "second")[2]  # the same vectors
    monkeypatch.setattr(Session, "expected_fingerprint", lambda self: "other")
    assert "Run 'sbert-desktop index'" in run("models", "use", "third")[2]


def test_models_are_fetched_only_with_hub(run, monkeypatch, tmp_path):
    from sbert_desktop.app import models

    asked = []
    monkeypatch.setattr("sbert_desktop.jobs.children.spawn_child", lambda *_, **__: pytest.fail("it goes online"))
    status, answer, err = run("models", "add", "owner/none", "--json")
    assert (status, answer["error"]["code"]) == (1, "model-missing")
    assert "--hub owner/none" in err
    for wrong in (["add", ""], ["add"], ["add", "a", "--hub", "b"], ["add", "--hub", ""], ["use", "--hub", "b"],
                  ["use"], ["list", "a"], ["list", "--hub", "b"]):  # fmt: skip
        assert run("models", *wrong)[0] == 2, wrong
    monkeypatch.setattr(models, "add_model", lambda _, source, __, *, hub: asked.append((source, hub)) or ())
    run("models", "add", "--hub", "owner/name")
    run("models", "add", str(tmp_path))
    assert asked == [("owner/name", True), (str(tmp_path), False)]


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_standard_output_by_its_other_name_is_standard_output(run, folder):
    run("index", folder)
    plain = run("export", "hits", "choir", "--format", "csv", "-o", "-")[1]["out"]
    assert "choir" in plain
    assert run("export", "hits", "choir", "--format", "csv", "-o", "/dev/stdout")[1]["out"] == plain
    assert run("export", "hits", "choir", "-o", "/dev/stdout")[1]["out"] == plain
