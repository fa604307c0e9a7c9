"""The Train page: judging pairs, checking them, training, comparing and adopting."""
