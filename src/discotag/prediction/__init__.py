"""Prediction: from documents to documents with mentions."""

from discotag.prediction.wanted import Wanted

__all__ = ["Wanted"]
