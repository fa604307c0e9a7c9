"""All of Qt: theme, controls, pages and the window; the only room that imports PySide6."""
