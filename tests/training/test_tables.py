from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from sbert_desktop.errors import TrainingError
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.table_files import MOST_LISTED, read_table
from sbert_desktop.training.tables import read_labels, write_labels
from tests.effort import least_cpu


def put(folder: Path, text: str, *, encoding: str = "utf-8", name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("header", "row", "kind", "value"),
    [
        ("text_a,text_b,label", "x,y,1", LabelKind.PAIRS, 1.0),
        ("Sentence 1,Sentence 2,is_duplicate", "x,y,no", LabelKind.PAIRS, 0.0),
        ("id,text1,text2,label", "7,x,y,different", LabelKind.PAIRS, 0.0),
        ("Quality,#1 String,#2 String", "1,x,y", LabelKind.PAIRS, 1.0),
        ("sentence1,sentence2,score", "x,y,3.2", LabelKind.GRADED, 3.2),
        ("sentence1,sentence2,score", "x,y,0.5", LabelKind.GRADED, 2.5),
        ("sentence1,sentence2,relatedness_1_5", "x,y,3", LabelKind.GRADED, 2.5),
        ("sentence1,sentence2,score_0_5", "x,y,1", LabelKind.GRADED, 1.0),
        ("anchor,positive,negative", "x,y,z", LabelKind.TRIPLETS, 1.0),
        ("anchor,positive", "x,y", LabelKind.POSITIVES, 1.0),
        ("question,answer", "x,y", LabelKind.POSITIVES, 1.0),
        ("premise,hypothesis,label", "x,y,contradiction", LabelKind.NLI, 2.0),
        ("sentence1,sentence2,gold_label", "x,y,neutral", LabelKind.NLI, 1.0),
        ("premise,hypothesis,label", "x,y,2", LabelKind.NLI, 2.0),
        ("question,passage,relevant", "x,y,0", LabelKind.RELEVANCE, 0.0),
        ("query,text,label", "x,y,relevant", LabelKind.RELEVANCE, 1.0),
    ],
)
def test_columns_and_kinds_are_known_by_their_names(
    tmp_path: Path, header: str, row: str, kind: LabelKind, value: float
) -> None:
    found = read_labels(put(tmp_path, f"{header}\n{row}\n"))
    assert found.labels.kind is kind
    assert found.labels.examples[0].value == pytest.approx(value)
    assert found.labels.examples[0].texts[:2] == ("x", "y")
    assert found.labels.examples[0].line == 2


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_delimiter_and_encoding_are_found_out(tmp_path: Path, delimiter: str, encoding: str) -> None:
    lines = [("text_a", "text_b", "label"), ("Grüße", "viele Grüße", "1"), ("no", "yes", "0")]
    found = read_labels(put(tmp_path, "\n".join(delimiter.join(cells) for cells in lines), encoding=encoding))
    assert [example.texts[0] for example in found.labels.examples] == ["Grüße", "no"]


def test_a_delimiter_in_the_texts_does_not_mislead(tmp_path: Path) -> None:
    rows = "".join(f'"one, two, {i}";"three, four";{i % 2}\n' for i in range(20))
    found = read_labels(put(tmp_path, "text_a;text_b;label\n" + rows))
    assert found.table.delimiter == ";"
    assert len(found.labels) == 20


def test_excels_own_first_line_is_heard_and_lines_still_count_right(tmp_path: Path) -> None:
    found = read_labels(put(tmp_path, "sep=|\ntext_a|text_b|label\na|b|1\n"))
    assert found.labels.examples[0].line == 3


def test_bad_rows_are_counted_and_listed_with_their_line(tmp_path: Path) -> None:
    path = put(tmp_path, 'text_a,text_b,label\n"two\nlines",b,1\na,,1\nc,d\ne,f,perhaps\ng,h,0\n')
    found = read_labels(path)
    assert [example.texts[0] for example in found.labels.examples] == ["two\nlines", "g"]
    assert [(row.line, row.reason) for row in found.bad] == [
        (4, "a text is empty"),
        (5, "it has 2 of 3 cells"),
        (6, "the label 'perhaps' is neither 0 nor 1"),
    ]
    assert found.bad_count == 3
    assert "3 rows were left out" in found.summary()


def test_an_open_quotation_mark_costs_its_row_and_not_the_file(tmp_path: Path) -> None:
    rows = "".join(f"a text of some length {i},another one {i},{i % 2}\n" for i in range(6000))
    found = read_labels(put(tmp_path, f'text_a,text_b,label\n"open,b,1\n{rows}'))
    assert len(found.labels) > 5900
    assert found.bad[0].line == 2
    assert "quotation mark" in found.bad[0].reason


def test_a_mark_in_a_table_of_tabs_is_a_sign_like_others(tmp_path: Path) -> None:
    found = read_labels(put(tmp_path, 'text_a\ttext_b\tlabel\n"He said\tb\t1\nc\t12" pipe\t0\n'))
    assert [example.texts for example in found.labels.examples] == [('"He said', "b"), ("c", '12" pipe')]


def test_very_many_bad_rows_are_counted_and_the_first_listed(tmp_path: Path) -> None:
    rows = "".join(f"a{i},b{i},{'x' if i % 2 else 1}\n" for i in range(1000))
    found = read_labels(put(tmp_path, "text_a,text_b,label\n" + rows), LabelKind.PAIRS)
    assert (found.bad_count, len(found.bad)) == (500, MOST_LISTED)
    assert len(found.reasons) == 1


def test_labels_without_agreement_are_left_out_and_said(tmp_path: Path) -> None:
    found = read_labels(put(tmp_path, "premise,hypothesis,label\na,b,-\nc,d,entailment\ne,f,neutral\n"))
    assert found.bad[0].reason == "the annotators did not agree"


def test_not_a_number_is_no_grade(tmp_path: Path) -> None:
    found = read_labels(put(tmp_path, "sentence1,sentence2,score\na,b,nan\nc,d,inf\ne,f,4\ng,h,5\n"), LabelKind.GRADED)
    assert [example.value for example in found.labels.examples] == [4.0, 5.0]


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = put(tmp_path, "label,left side,right side,ok\n9,a,b,1\n9,c,d,0\n")
    found = read_labels(path, LabelKind.PAIRS, {"text_a": "right side", "text_b": "left side", "label": "ok"})
    assert found.labels.examples[0].texts == ("b", "a")
    assert [example.value for example in found.labels.examples] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("colour,shape\nred,round\n", "unknown-columns", "'colour' and 'shape'"),
        ("text_a,text_b,label\na,b,perhaps\n", "unknown-labels", "'perhaps'"),
        ("text_a,text_b,label\n", "no-table", "no rows"),
        ("", "no-table", "no rows"),
        ("PK\x03\x04", "no-table", "workbook"),
        ("text_a,text_b,label\n,b,1\n,c,1\n", "no-labels", "line 2: a text is empty"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path, text: str, code: str, said: str) -> None:
    with pytest.raises(TrainingError) as caught:
        read_labels(put(tmp_path, text))
    assert caught.value.code == code
    assert said in caught.value.message
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    path = put(tmp_path, "text_a,text_b,label\na,b,1\n")
    with pytest.raises(TrainingError, match=r"no column 'gold'.*'text_a', 'text_b' and 'label'"):
        read_labels(path, LabelKind.PAIRS, {"label": "gold"})


def test_a_missing_file_is_no_crash(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="cannot be read"):
        read_table(tmp_path / "absent.csv")


@pytest.mark.parametrize("kind", list(LabelKind))
def test_an_export_reads_back_the_same(tmp_path: Path, kind: LabelKind) -> None:
    texts = ('=cmd("x")', "+1, a", "two\nlines", "'=quoted", '"marks"', "-", "@home", "ü;ö", "it's", "\u202eab")
    values = {LabelKind.GRADED: (0.0, 2.35, 5.0), LabelKind.NLI: (0.0, 1.0, 2.0)}.get(kind, (1.0,))
    if kind in {LabelKind.PAIRS, LabelKind.RELEVANCE}:
        values = (1.0, 0.0)
    examples = tuple(
        Example(
            tuple(f"{text}{place or ''}" for place in range(kind.texts)),
            values[i % len(values)],
            tuple(f"{i:064x}" if place else "" for place in range(kind.texts)),
        )
        for i, text in enumerate(texts)
    )
    path = tmp_path / "out.csv"
    assert write_labels(path, LabelSet(kind, examples)) == len(texts)
    found = read_labels(path)
    assert found.labels.kind is kind
    assert [(e.texts, e.value, e.documents) for e in found.labels.examples] == [
        (e.texts, e.value, e.documents) for e in examples
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_no_cell_of_an_export_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_labels(path, LabelSet(LabelKind.PAIRS, (Example(("=1+1", "\t-2"), 1.0),)))
    with open(path, encoding="utf-8-sig", newline="") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_an_export_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="cannot be written"):
        write_labels(tmp_path / "no folder" / "out.csv", LabelSet(LabelKind.PAIRS, (Example(("a", "b"), 1.0),)))


def test_a_hundred_thousand_rows_take_seconds_at_most(tmp_path: Path) -> None:
    rows = "".join(f"a sentence of the usual length {i},another sentence {i},{i % 2}\n" for i in range(100_000))
    path = put(tmp_path, "text_a,text_b,label\n" + rows)
    found: list[int] = []
    assert least_cpu(lambda: found.append(len(read_labels(path).labels)), enough=4.0) < 4.0  # 0.7 s measured
    assert found[0] == 100_000


@pytest.mark.parametrize(
    ("file", "kind", "count"),
    [
        ("sts/stsb_dev.csv", LabelKind.GRADED, 1500),
        ("pairs/mrpc_val.csv", LabelKind.PAIRS, 500),
        ("pairs/quora_shared.csv", LabelKind.PAIRS, 299),
        ("pairs/walmart_amazon_dev.csv", LabelKind.PAIRS, 2049),
        ("nli/snli_dev.csv", LabelKind.NLI, 1273),
        ("nli/sick_train.csv", LabelKind.NLI, 4500),
        ("nli/snli_triplets_dev.csv", LabelKind.TRIPLETS, 378),
    ],
)
def test_the_fields_own_tables_are_read_whole(shared_data: Path, file: str, kind: LabelKind, count: int) -> None:
    found = read_labels(shared_data / file)
    assert (found.labels.kind, len(found.labels), found.bad_count) == (kind, count, 0)


def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for place in (pipe, Path("/dev/zero"), tmp_path / "a\0b.csv", tmp_path):
        with pytest.raises(TrainingError, match="cannot be read") as refused:
            read_table(place)
        assert refused.value.code == "no-table"


def test_what_is_no_text_is_not_shown_as_names_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "picture.csv"
    path.write_bytes(bytes(range(256)) * 20)
    with pytest.raises(TrainingError, match="is not text"):
        read_table(path)


def test_rows_with_a_cell_too_large_to_be_read_are_told_as_that(tmp_path: Path) -> None:
    rows = [f"{'cat ' * 5_000_000 if n == 3 else 'cat'} {n},dog {n},{n % 2}" for n in range(10)]
    found = read_labels(put(tmp_path, "\n".join(["text_a,text_b,label", *rows])))
    assert len(found.labels) == 9
    assert [(row.line, row.reason) for row in found.bad] == [(5, "a cell has more characters than can be read")]


@pytest.mark.parametrize("place", ["x" * 300 + ".csv", "none/labels.csv", "."])
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, place: str) -> None:
    labels = LabelSet(LabelKind.PAIRS, (Example(("a", "b"), 1.0),))
    with pytest.raises(TrainingError, match="cannot be written") as refused:
        write_labels(tmp_path / place, labels)
    assert refused.value.code == "not-written"
