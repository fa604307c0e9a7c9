"""The Library page: folders, progress, problems, what was read, index health."""
