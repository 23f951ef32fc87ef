"""What a decoder finds, without a pipeline."""

from discotag.prediction.decoding import Ask
from discotag.prediction.wanted import Wanted


def result_of(work):
    """Run a generator for the pipeline to its end."""
    try:
        while True:
            next(work)
    except StopIteration as end:
        return end.value


def answer_of(decoder, scores, vectors, lengths, bias=0.0, probabilities=True, **wanted):
    """Return all that is found in each sentence; the other arguments are fields of `Wanted`."""
    ask = Ask(Wanted(**wanted), bias, probabilities=probabilities)
    return result_of(decoder.answer(scores, vectors, lengths, ask))


def mentions_of(*given, **more):
    """Return the mentions of each sentence that has any, by its row in the batch."""
    found = answer_of(*given, **more)
    return {row: list(each.mentions) for row, each in enumerate(found) if each.mentions}
