"""The Duplicates page: groups of files that are alike, what differs, and their clean-up."""
