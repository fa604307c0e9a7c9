"""The Search page and the preview beside it."""
