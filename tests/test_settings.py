"""Settings: sparse, checked, and never lost to a bad file."""

from __future__ import annotations

import tomllib

import pytest

from sbert_desktop.errors import UsageError
from sbert_desktop.settings import GROUPS, SCHEMA, Settings


@pytest.fixture
def file(tmp_path):
    return tmp_path / "settings.toml"


def test_only_changed_values_are_written(file):
    settings = Settings(file)
    settings.set("appearance.theme", "dark")
    settings.set("indexing.pace", "full")
    settings.reset("indexing.pace")
    assert tomllib.loads(file.read_text()) == {"appearance": {"theme": "dark"}}
    assert Settings(file)["appearance.theme"] == "dark"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("appearance.theme", "pink"),
        ("appearance.text_scale", 10),
        ("appearance.text_scale", "100"),
        ("search.history", 1),
    ],
)
def test_wrong_value_is_refused_and_the_old_one_stays(file, key, value):
    settings = Settings(file)
    before = settings[key]
    with pytest.raises(UsageError, match=key.replace(".", r"\.")):
        settings.set(key, value)
    assert settings[key] == before


def test_bad_and_unknown_entries_are_said_and_kept(file):
    file.write_text('[appearance]\ntheme = "pink"\n[future]\nthing = 3\n')
    settings = Settings(file)
    assert settings["appearance.theme"] == "system"
    assert any("theme" in problem for problem in settings.problems)
    settings.set("search.words_weight", 50)
    assert tomllib.loads(file.read_text())["future"] == {"thing": 3}


def test_broken_file_is_said_and_not_overwritten_by_reading(file):
    file.write_bytes(b"[appearance\n\xff")
    settings = Settings(file)
    assert settings.problems
    assert file.read_bytes() == b"[appearance\n\xff"


def test_environment_overrides(file, monkeypatch):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_EXACT_BELOW", "5")
    assert Settings(file).number("advanced.exact_below") == 5


def test_listeners_hear_of_changes(file):
    heard = []
    settings = Settings(file)
    settings.subscribe(heard.append)
    settings.set("appearance.theme", "light")
    assert heard == ["appearance.theme"]


def test_schema_is_complete():
    assert len({setting.key for setting in SCHEMA}) == len(SCHEMA)
    for setting in SCHEMA:
        assert setting.group in GROUPS
        assert setting.label
        assert setting.checked(setting.default) == setting.default


def test_environment_that_makes_no_sense_is_named(file, monkeypatch):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_EXACT_BELOW", "many")
    with pytest.raises(UsageError, match=r"advanced\.exact_below must be a whole number, not 'many'"):
        Settings(file).number("advanced.exact_below")
