"""SBERT Desktop: explore your own folders by meaning, offline."""

__version__ = "0.1.0"
