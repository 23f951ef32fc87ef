"""Prediction: from documents to documents with mentions."""
