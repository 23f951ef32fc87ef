"""Checking a corpus: problems, statistics, fit with schemes, suspected annotation errors."""

from __future__ import annotations

from discotag.corpora.checks.checking import Checked, Finding, check
from discotag.corpora.checks.scheme_fit import Setting

__all__ = ["Checked", "Finding", "Setting", "check"]
