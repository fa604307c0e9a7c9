"""The map in a file: rows for a spreadsheet, JSON, and a page that runs nothing but its own script."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

from sbert_desktop.app import map_page
from sbert_desktop.app.atlas_views import ColourBy, MapRequest, MapUnit
from sbert_desktop.app.colouring import run_colours
from sbert_desktop.app.map_report import export_map, written
from sbert_desktop.app.mapping import run_map
from sbert_desktop.app.session import Session
from sbert_desktop.errors import SbertDesktopError, UsageError

from .made_map import Listening, clustered, put_documents, stand_in, themes_of

EVIL = ["</script><script>alert(1)</script>", "<!--<script>", "\u2028 & <b>x</b>", '"]};alert(2)//', "=1+1"]


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    opened = Session(tmp_path / "library")
    yield opened
    opened.close()


@pytest.fixture
def themes(monkeypatch):
    return stand_in(monkeypatch)


@pytest.fixture
def made(session, tmp_path, themes):
    """A map of ten documents, two of them the same, in two themes with names that try to break out."""
    vectors = clustered(10)
    vectors[9] = vectors[0]
    contents = put_documents(session, tmp_path / "docs", vectors)
    themes.themes = themes_of(contents, [0, 1] * 5, EVIL[:2])
    view = run_map(session, MapRequest(method="pca"), Listening())
    return view, run_colours(session, view, ColourBy.THEME), contents


class Page(HTMLParser):
    """Takes a page apart as a browser does."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_data(self, data):
        if self.found and self.found[-1][0] in self.inside:
            self.inside[self.found[-1][0]][-1] += data

    def handle_endtag(self, tag):
        self.found.append((f"/{tag}", {}))

    @property
    def data(self):
        return json.loads(self.inside["script"][0])


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


# ---------------------------------------------------------------- csv and json


def test_csv_has_a_row_per_document_also_on_one_spot(session, made, tmp_path):
    view, colours, _ = made
    place = export_map(session, view, colours, tmp_path / "map.csv")
    rows = list(csv.DictReader(io.StringIO(place.read_text("utf-8-sig"))))
    assert len(rows) == 10
    places = {str(tmp_path / "docs" / f"sub-{n % 2}" / f"made-{n}.txt") for n in range(10)}
    assert {row["path"] for row in rows} == places
    by_path = {row["path"].rpartition("-")[2]: row for row in rows}
    assert by_path["0.txt"]["x"] == by_path["9.txt"]["x"]
    assert by_path["0.txt"]["here"] == "2"
    assert by_path["1.txt"]["cluster"] == EVIL[1]
    assert by_path["1.txt"]["group"] == EVIL[1]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", by_path["1.txt"]["date"])
    spot = view.positions[view.starts[:-1].tolist().index(view.contents.tolist().index(made[2][1]))]
    assert float(by_path["1.txt"]["y"]) == pytest.approx(float(spot[1]), abs=1e-4)


def test_csv_holds_no_formula(session, tmp_path, themes):
    root = tmp_path / "docs"
    contents = put_documents(session, root, clustered(3))
    themes.themes = themes_of(contents, [0, 0, 0], ["=HYPERLINK(1)"])
    view = run_map(session, MapRequest(), Listening())
    text = written(session, view, run_colours(session, view, ColourBy.THEME), "csv")
    rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))
    assert {row["cluster"] for row in rows} == {"'=HYPERLINK(1)"}


def test_json_is_whole_and_finite(session, made):
    view, colours, _ = made
    told = json.loads(written(session, view, colours, "json"), parse_constant=lambda name: pytest.fail(name))
    assert told["points"] == 9
    assert len(told["rows"]) == 10
    assert [label["text"] for label in told["labels"]] == EVIL[:2]


def test_a_map_of_passages_names_them(session, made):
    view = run_map(session, MapRequest(MapUnit.PASSAGES, method="pca"), Listening())
    colours = run_colours(session, view, ColourBy.TYPE)
    rows = json.loads(written(session, view, colours, "json"))["rows"]
    assert sorted(row["passage"] for row in rows) == sorted(view.passages.tolist())


def test_an_unknown_form_is_refused(session, made, tmp_path):
    view, colours, _ = made
    for name in ("map.xlsx", "map"):
        with pytest.raises(UsageError) as caught:
            export_map(session, view, colours, tmp_path / name)
        assert caught.value.code == "unknown-format"
    assert not list(tmp_path.glob("map*"))


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(session, made, tmp_path):
    view, colours, _ = made
    target = tmp_path / "map.csv"
    target.write_text("mine")
    with pytest.raises(SbertDesktopError) as caught:
        export_map(session, view, colours, target, replace=False)
    assert caught.value.code == "file-exists"
    assert target.read_text() == "mine"


# ---------------------------------------------------------------- the page


def test_the_page_lets_nothing_be_fetched_and_no_other_script_run(session, made, tmp_path):
    view, colours, _ = made
    text = export_map(session, view, colours, tmp_path / "map.html").read_text("utf-8")
    page = Page(text)
    rules = next(attrs["content"] for tag, attrs in page.found if attrs.get("http-equiv") == "Content-Security-Policy")
    assert rules.startswith("default-src 'none';")
    assert "unsafe" not in rules
    assert "http" not in re.sub(r"<script>.*", "", text, flags=re.DOTALL).replace("http-equiv", "")
    for kind in ("script", "style"):
        inside = page.inside[kind][-1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in rules
    assert [attrs.get("type") for tag, attrs in page.found if tag == "script"] == ["application/json", None]
    assert not [attrs for _, attrs in page.found if {"src", "href", "style", "onclick", "onload"} & attrs.keys()]
    assert not re.search(r"https?:|import\(|fetch\(|XMLHttp|eval\(|innerHTML|document\.write", page.inside["script"][1])


def test_no_title_can_break_out_of_the_data(session, tmp_path, themes, monkeypatch):
    from sbert_desktop.app import map_report

    contents = put_documents(session, tmp_path / "docs", clustered(len(EVIL)))
    themes.themes = themes_of(contents, np.arange(len(EVIL)), EVIL)
    view = run_map(session, MapRequest(), Listening())
    real = map_report.places_of
    titled = {
        content: map_report.Place(f"/d/{evil}".encode(), evil, evil, "txt", "en", None, evil)
        for content, evil in zip(sorted(real(session, view)), EVIL, strict=True)
    }
    monkeypatch.setattr(map_report, "places_of", lambda *a: titled)
    text = written(session, view, run_colours(session, view, ColourBy.THEME), "html")
    page = Page(text)
    assert [tag for tag, _ in page.found].count("script") == 2
    assert "b" not in [tag for tag, _ in page.found]
    assert page.data["titles"] == [" ".join(evil.split()) for evil in EVIL]
    assert [label["text"] for label in page.data["labels"]] == EVIL
    assert "<" not in page.inside["script"][0]


def test_the_page_holds_the_map(session, made):
    view, colours, _ = made
    data = Page(written(session, view, colours, "html", palette=["#112233", "#445566"])).data
    spots = unpacked(data["spots"], "<u2").reshape(-1, 2).astype(float)
    span = (view.positions.max(axis=0) - view.positions.min(axis=0)).max()
    expected = (view.positions - view.positions.min(axis=0)) / span * 65_535
    np.testing.assert_allclose(spots, expected, atol=1)
    assert unpacked(data["many"], "<u2").tolist() == view.counts.tolist()
    assert unpacked(data["group"], "<u1").tolist() == colours.point_groups.tolist()
    assert [(group["label"], group["light"]) for group in data["groups"]] == [
        (EVIL[0], "#112233"), (EVIL[1], "#445566"),
    ]  # fmt: skip
    assert all(name.endswith(".txt") for name in data["names"])
    assert set(unpacked(data["folder"], "<u4").tolist()) == set(range(len(data["folders"])))
    assert data["links"][0].startswith("file:///")


def test_a_palette_that_is_none_is_not_taken_over(session, made):
    view, colours, _ = made
    bad = "red}</style><script>"
    text = written(session, view, colours, "html", palette=[bad, "#12345g"])
    assert bad not in text
    assert [group["light"] for group in Page(text).data["groups"]] == ["#bf840a", "#3798cc"]


def test_a_scale_has_levels_and_unknown_ones(session, made):
    view, _, _ = made
    colours = run_colours(session, view, ColourBy.DATE)
    colours.values[3] = np.nan
    levels = unpacked(Page(written(session, view, colours, "html")).data["value"], "<u1")
    assert levels[3] == 255
    assert levels.tolist()[:1] == [round(float(colours.values[0]) * 254)]


def test_names_end_where_the_page_would_grow_without_bound(session, made, monkeypatch):
    view, colours, _ = made
    monkeypatch.setattr(map_page, "NAMED", 4)
    data = Page(written(session, view, colours, "html")).data
    assert len(data["titles"]) == len(data["names"]) == len(data["inside"]) == 9
    assert data["names"][3]
    assert data["names"][4:] == [""] * 5
    assert len(unpacked(data["spots"], "<u2")) == 18


def test_an_empty_map_is_a_page(session, themes):
    view = run_map(session, MapRequest(), Listening())
    data = Page(written(session, view, run_colours(session, view, ColourBy.THEME), "html")).data
    assert data["count"] == 0


BROWSER = r"""
const fs = require("fs");
const text = fs.readFileSync(process.argv[2], "utf-8");
const blocks = [...text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map((found) => found[1]);
const listeners = {};
let drawn = 0, dots = 0;
function element(name) {
  const made = {name, children: [], style: {}, attributes: {}, textContent: "", value: "", className: "",
    classList: {toggle() {}}, focus() {}, setPointerCapture() {},
    getBoundingClientRect: () => ({width: 200, height: 80}),
    appendChild(child) { this.children.push(child); return child; },
    append(...more) { this.children.push(...more); },
    replaceChildren(...more) { this.children = more; },
    setAttribute(key, value) { this.attributes[key] = value; },
    querySelectorAll(kind) { return this.children.filter((child) => child.name === kind); },
    addEventListener(kind, act) { (listeners[name + ":" + kind] ||= []).push(act); this["on" + kind] = act; },
    getContext: () => new Proxy({}, {get: (_, key) => key === "createImageData"
      ? (w, h) => ({data: new Uint8ClampedArray(w * h * 4)})
      : key === "putImageData" ? (image) => { drawn++; const words = new Uint32Array(image.data.buffer);
          dots = words.filter((word) => word !== words[0]).length; }
      : key === "measureText" ? () => ({width: 50}) : () => {}, set: () => true}),
  };
  return made;
}
const known = {};
global.document = {
  getElementById: (id) => known[id] ||= Object.assign(element(id), id === "data" ? {textContent: blocks[0]} : {}),
  createElement: element, addEventListener: (kind, act) => { (listeners["document:" + kind] ||= []).push(act); },
};
global.window = {
  matchMedia: () => ({matches: process.argv[3] === "dark", addEventListener() {}}), devicePixelRatio: 1,
  innerWidth: 800, innerHeight: 600, requestAnimationFrame: (act) => act(), addEventListener() {},
  setTimeout: (act) => act(), clearTimeout() {},
};
eval(blocks[1]);
const first = dots;
const find = known.find, legend = known.legend;
find.value = process.argv[4]; find.oninput();
const hits = known.hits.children.slice(0, -1).map((item) => item.children[0].children[0].textContent);
if (known.hits.children.length > 1) known.hits.children[0].children[0].onclick();
const cardText = known.card.children.map((line) => line.textContent);
const links = known.card.children.map((line) => line.href).filter(Boolean);
legend.children.filter((child) => child.name === "button")[0].onclick({});
const pressed = legend.children.filter((child) => child.name === "button").map((one) => one.attributes["aria-pressed"]);
for (const key of ["+", "-", "ArrowLeft", "0", "Escape"])
  listeners["document:keydown"][0]({key, target: known.map, preventDefault() {}});
listeners["map:wheel"][0]({deltaY: -100, deltaMode: 0, clientX: 400, clientY: 300, preventDefault() {}});
listeners["map:pointerdown"][0]({pointerId: 1, clientX: 10, clientY: 10});
listeners["map:pointermove"][0]({pointerId: 1, clientX: 60, clientY: 60});
listeners["map:pointerup"][0]({pointerId: 1, clientX: 60, clientY: 60});
console.log(JSON.stringify({first, drawn, hits, cardText, links, pressed}));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the page's script")
@pytest.mark.parametrize("by", [ColourBy.THEME, ColourBy.DATE])
def test_the_script_draws_finds_and_tells(session, made, tmp_path, by):
    view, _, _ = made
    place = export_map(session, view, run_colours(session, view, by), tmp_path / "map.html")
    runner = tmp_path / "browser.js"
    runner.write_text(BROWSER)
    done = subprocess.run(
        ["node", str(runner), str(place), "dark", "title 4"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["first"] >= 9 * 5
    assert told["drawn"] >= 8
    assert told["hits"] == ["Title 4"]
    assert told["cardText"][0] == "Title 4"
    assert told["links"] == [(tmp_path / "docs" / "sub-0" / "made-4.txt").as_uri()]
    assert told["pressed"] == ["true", "false"][: len(told["pressed"])]
