"""Shared parts of the formats: files, streams, JSON, XML, standoff annotations, problems."""
