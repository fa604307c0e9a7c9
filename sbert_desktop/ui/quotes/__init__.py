"""Check my quotes: a draft's quotations beside what the library says."""
