"""Judgements, fine-tuning and comparison: nothing yet; the room is kept for the issue that fills it."""
