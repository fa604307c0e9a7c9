"""Collections and saved searches: what is kept by name, its page, its rows in the rail, its sheets."""
