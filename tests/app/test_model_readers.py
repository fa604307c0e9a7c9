"""Models that are read one after the other share one child; one that died is replaced; each reads its own vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.app.model_readers import Readers, open_reader
from sbert_desktop.app.session import Session
from sbert_desktop.errors import JobError
from sbert_desktop.jobs import NullContext
from sbert_desktop.settings import Settings
from tests.app import tuning_case as case

pytest.importorskip("torch")
pytestmark = pytest.mark.xdist_group("training")
TEXTS = ["the boat sails north", "a late letter arrives today", "the old house"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    from tests.training.conftest import save_tiny

    home = tmp_path_factory.mktemp("models")
    case.save_sound(home / "other")
    return save_tiny(home / "one"), home / "other"


class Children:
    """Starts children inside this process and counts; ``dies`` says before which requests one dies."""

    def __init__(self) -> None:
        self.started: list[Watched] = []
        self.dies: Callable[[Mapping[str, object]], bool] = lambda header: False

    def launch(self, kind: str, **_: object) -> Watched:
        self.started.append(Watched(kind, self))
        return self.started[-1]


class Watched:
    def __init__(self, kind: str, all_of_them: Children) -> None:
        self.asked: list[object] = []
        self.closed = False
        self._child = case.Child(kind)
        self._all = all_of_them

    def request(self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float | None = None) -> object:
        assert not self.closed
        self.asked.append(header["do"])
        if self._all.dies(header):
            raise JobError("child-died", "killed")
        return self._child.request(header, payload, timeout=timeout)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "torch-cpu")
    session = Session(tmp_path / "library", Settings(tmp_path / "settings.toml"))
    yield session
    session.close()


@pytest.fixture
def children(session: Session) -> Children:
    made = Children()
    session.launch = made.launch  # type: ignore[method-assign, assignment]
    return made


def alone(session: Session, model: Path) -> np.ndarray:
    with open_reader(session, model, "Reading") as reader:
        return reader.passages(TEXTS, NullContext())


def test_two_models_are_read_in_one_child_and_each_gives_its_own_vectors(
    session: Session, children: Children, models: tuple[Path, Path]
) -> None:
    found = []
    with Readers(session) as readers:
        for model in models:
            with readers.open(model, "Reading") as reader:
                found.append((reader.name, reader.passages(TEXTS, NullContext())))
    (child,) = children.started
    assert child.asked.count("load") == 2
    assert child.closed
    assert [name for name, _ in found] == ["one", "other"]
    for (_, vectors), model in zip(found, models, strict=True):
        np.testing.assert_allclose(vectors, alone(session, model), atol=1e-5)
    assert not np.allclose(found[0][1], found[1][1])
    assert len(children.started) == 3  # each of those that were alone
    assert all(one.closed for one in children.started)


def test_a_child_that_died_is_ended_and_replaced(
    session: Session, children: Children, models: tuple[Path, Path]
) -> None:
    expected = alone(session, models[1])
    children.started.clear()
    with Readers(session) as readers:
        with readers.open(models[0], "Reading") as reader:
            reader.passages(TEXTS, NullContext())
        children.dies = lambda header: header["do"] == "load" and len(children.started) == 1
        with readers.open(models[1], "Reading") as reader:
            np.testing.assert_allclose(reader.passages(TEXTS, NullContext()), expected, atol=1e-5)
        assert [one.closed for one in children.started] == [True, False]
    assert [one.closed for one in children.started] == [True, True]


def test_what_breaks_off_the_reading_ends_the_child(
    session: Session, children: Children, models: tuple[Path, Path]
) -> None:
    def broken_off() -> None:
        with Readers(session) as readers, readers.open(models[0], "Reading") as reader:
            reader.passages(TEXTS, NullContext())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert [one.closed for one in children.started] == [True]
