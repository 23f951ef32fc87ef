"""Archives: jobs on all cores of a machine or on a cluster, and a callable for other engines."""

from discotag.scale.batches import TagBatches
from discotag.scale.job import Manifest, read_manifest, run_job
from discotag.scale.parts import Part

__all__ = ["Manifest", "Part", "TagBatches", "read_manifest", "run_job"]
