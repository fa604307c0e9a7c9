"""What would change with a tuned model."""

from __future__ import annotations

from sbert_desktop.app.model_readers import EncoderReader
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import ComparisonView
from sbert_desktop.domain import JobContext


def changes_ahead(
    session: Session, view: ComparisonView, reader: EncoderReader, context: JobContext
) -> ComparisonView:
    """Adds to a comparison what would change."""
    return view
