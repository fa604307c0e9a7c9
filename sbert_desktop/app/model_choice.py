"""Which models a session works with, and how they are opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.domain import CrossEncoder, Encoder
from sbert_desktop.errors import EncoderError

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session


class ModelChoice:
    """Knows the models by the names that the settings have for them ("": the bundled one). Any thread.

    Attributes:
        pooling: In place of the models' own; None: their own.
    """

    def __init__(self, session: Session) -> None:
        self.pooling: str | None = None
        self._session = session
        self._bound: tuple[tuple[str, str, str], str] | None = None

    def name(self) -> str:
        """Gives the model in force, as the settings name it ("": the bundled one).

        It is that of the library's active space, as long as it is here; else, and for a new library, the settings'.
        """
        from sbert_desktop.encoder.models import BUNDLED_NAME

        chosen = self._session.settings.text("models.encoder")
        space = None if self._session.settings.text("advanced.encoder") == "hashing" else self._session.active_space()
        if space is None or space.name == (chosen or BUNDLED_NAME):
            return chosen
        key = (space.fingerprint, space.name, chosen)
        if self._bound is None or self._bound[0] != key:
            own = "" if space.name == BUNDLED_NAME else space.name
            here = self.fingerprint_of(own)
            if not here:
                return chosen  # asked again next time: it may be added by then
            self._bound = (key, own if here == space.fingerprint else chosen)
        return self._bound[1]

    def folder(self) -> Path | None:
        """Gives the folder of the model in force; None for the bundled one.

        Raises:
            EncoderError: ``model-missing``.
        """
        return _folder_of(self.name())

    def fingerprint_of(self, model: str) -> str:
        """Gives the fingerprint that a model has here, "" where it is missing or cannot be used; 0.1 s a 90 MB."""
        from sbert_desktop.encoder import expected_fingerprint

        try:
            return expected_fingerprint(
                _folder_of(model), backend=self._session.settings.text("advanced.encoder"), pooling=self.pooling
            )
        except EncoderError:
            return ""

    def open(self, model: str) -> Encoder:
        """Opens the encoder of a model beside the one in force; whoever asks closes it.

        Raises:
            EncoderError: It is missing, damaged or cannot run.
        """
        from sbert_desktop.encoder import open_encoder

        return open_encoder(
            _folder_of(model),
            backend=self._session.settings.text("advanced.encoder"),
            precision=self._session.settings.text("advanced.precision"),
            launch=self._session.launch,
            notify=self._session.notice,
            interactive=self._session.interactive,
            pooling=self.pooling,
        )

    def open_cross_encoder(self) -> CrossEncoder | None:
        """Opens the cross-encoder in use; None where none is.

        Raises:
            EncoderError: As :meth:`open`.
        """
        from sbert_desktop.encoder import open_cross_encoder
        from sbert_desktop.encoder.store import find_model

        name = self._session.settings.text("models.cross_encoder")
        if not name:
            return None
        backend = self._session.settings.text("advanced.encoder")
        device = {"torch-cpu": "cpu", "torch-gpu": "gpu"}.get(backend, "auto")
        return open_cross_encoder(
            find_model(name),
            launch=self._session.launch,
            device=device,
            precision=self._session.settings.text("advanced.precision"),
            backend="torch" if device != "auto" else "openvino" if backend == "openvino" else "auto",
            start=True,
            notify=self._session.notice,
        )


def _folder_of(model: str) -> Path | None:
    """Gives the folder of a model by the name that the settings have for it; None for the bundled one."""
    from sbert_desktop.encoder.store import find_model

    return find_model(model) if model else None
