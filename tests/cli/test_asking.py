"""The query language on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_contract import folder, run  # noqa: F401  (fixtures)


def names(answer) -> set[str]:
    return {Path(hit["path"]).name for hit in answer["hits"]}


def test_the_query_is_taken_as_it_is_and_options_narrow_it_further(run, folder):  # noqa: F811
    run("index", folder)
    assert names(run("search", "type:md", "--json")[1]) == {"choir.md"}
    assert names(run("search", '"rain gauge" name:rain', "--json")[1]) == {"rain.txt"}
    assert names(run("search", "type:md,txt", "--type", "txt", "--json")[1]) == {"rain.txt"}
    assert names(run("search", "type:txt", "--folder", folder / "sub", "--json")[1]) == set()
    assert names(run("search", "--json", "--", "-gauge")[1]) == {"choir.md"}
    assert names(run("search", "-gauge type:txt", "--json")[1]) == set()


def test_notes_go_to_standard_error_and_into_the_object(run, folder):  # noqa: F811
    run("index", folder)
    status, answer, err = run("search", "colour:green folder", "--json")
    assert status == 0
    assert any("colour:" in note for note in answer["notes"])
    assert "colour:" in err


def test_the_help_explains_how_to_ask_in_plain_ascii(run):  # noqa: F811
    status, answer, _ = run("search", "--help")
    assert status == 0
    assert "type:pdf" in answer["out"]
    assert answer["out"].isascii()


def test_options_take_the_days_that_the_language_takes(run, folder):  # noqa: F811
    run("index", folder)
    assert names(run("search", "rain", "--after", "yesterday", "--json")[1]) == {"rain.txt", "choir.md"}
    assert names(run("search", "rain", "--before", "last week", "--json")[1]) == set()
    for day in ("2023-13", "soon", "", '" or "', "2023..2024"):
        status, _, err = run("search", "rain", "--after", day)
        assert status == 2
        assert "is not a day" in err


def test_options_read_kinds_and_languages_as_the_language_does(run, folder):  # noqa: F811
    run("index", folder)
    assert names(run("search", "rain", "--type", "text", "--json")[1]) == {"rain.txt", "choir.md"}
    assert names(run("search", "rain", "--type", ".TXT,pdf", "--json")[1]) == {"rain.txt"}
    assert names(run("search", "rain", "--language", "English", "--json")[1]) == {"rain.txt", "choir.md"}
    for option, value in (("--type", "mail"), ("--language", "German")):
        status, answer, err = run("search", "rain", option, value, "--json")
        assert (status, answer["hits"]) == (0, [])
        assert any("No document in the library" in note for note in answer["notes"])
        assert "No document in the library" in err
    for option, value in (("--type", ""), ("--type", "a b"), ("--language", "xx"), ("--language", "")):
        status, answer, _ = run("search", "rain", option, value, "--json")
        assert (status, answer["error"]["code"]) == (2, "bad-arguments")


def test_folder_without_documents_is_named(run, folder):  # noqa: F811
    run("index", folder)
    for place, empty in ((folder, False), (folder / "rain.txt", True)):
        answer = run("search", "rain", "--folder", place, "--json")[1]
        assert any("No document of the library lies in" in note for note in answer["notes"]) == empty
    for query, empty in ((f"rain folder:{folder.name}", False), ("rain folder:taxes", True)):
        answer = run("search", query, "--json")[1]
        assert any("a folder “taxes”" in note for note in answer["notes"]) == empty


def test_query_that_is_taken_for_an_option_is_told_of_the_two_minuses(run):  # noqa: F811
    status, _, err = run("search", "-gauge")
    assert status == 2
    assert "put -- before it" in err
    assert "put --" not in run("search", "rain", "--top", "x")[2]
