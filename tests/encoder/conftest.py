"""The bundled model, copies of it that may be damaged, and a child that is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from sbert_desktop.encoder import models
from sbert_desktop.errors import JobError


@pytest.fixture(scope="session")
def model_dir() -> Path:
    """Gives the folder of the bundled model."""
    folder = models.default_model_dir()
    if folder is None:
        pytest.skip("the bundled model is not installed")
    return folder


@pytest.fixture
def copied(model_dir: Path, tmp_path: Path) -> Path:
    """Gives a copy of the model whose files are links: replace one to change it."""
    folder = tmp_path / "a model of mine"
    for source in model_dir.rglob("*"):
        if source.is_file():
            target = folder / source.relative_to(model_dir)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source)
    return folder


@pytest.fixture
def no_launch() -> Callable[..., FakeChild]:
    """Gives a launch that must not happen."""

    def launch(kind: str) -> FakeChild:
        raise AssertionError(f"a child was launched: {kind}")

    return launch


@pytest.fixture(scope="session")
def shared_launch() -> Iterator[Callable[..., object]]:
    """Gives one torch child for all small models: importing torch and transformers is most of what each would cost."""
    from sbert_desktop.jobs import spawn_child

    child = spawn_child("torch")

    class Shared:
        def request(
            self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float | None = None
        ) -> tuple[dict[str, object], bytes]:
            return child.request(header, payload, timeout=timeout)

        def close(self) -> None: ...

    yield lambda kind: Shared()
    child.close()


class FakeChild:
    """Answers from a function; a JobError that it raises kills it, as with a real one."""

    def __init__(self, answer: Callable[[Mapping[str, object], bytes], tuple[dict[str, object], bytes]]) -> None:
        self._answer = answer
        self.closed = False
        self.dead = False

    def request(
        self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float | None = None
    ) -> tuple[dict[str, object], bytes]:
        assert not self.dead, "a dead child was asked"
        assert not self.closed, "a closed child was asked"
        try:
            return self._answer(header, payload)
        except JobError as error:
            self.dead = error.code in {"child-died", "child-timeout"}
            raise

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def fake_child() -> type[FakeChild]:
    """Gives the class of fake children."""
    return FakeChild
