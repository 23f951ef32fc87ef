import pytest

from discotag.training.epochs import Epoch, best_of


def epoch(number, f1, discontinuous, gold=400):
    parts = {"all": f1, "discontinuous_sentences": 0.0, "discontinuous": discontinuous}
    figures = {part: {"f1": value} for part, value in parts.items()}
    figures["all"]["gold"], figures["discontinuous"]["gold"] = gold, gold // 10
    return Epoch(number, number, 1.0, figures)


def test_the_best_epoch_finds_discontinuous_mentions():
    assert best_of([epoch(1, 0.70, 0.0), epoch(2, 0.69, 0.3)], 0).number == 2
    assert best_of([epoch(1, 0.70, 0.0), epoch(2, 0.65, 0.3)], 0).number == 1
    assert best_of([epoch(1, 0.70, 0.2), epoch(2, 0.70, 0.2)], 0).number == 2


def test_the_standard_error_of_the_combined_f1():
    # The square root of 0.8 * 0.2 / 400 + 0.1 ** 2 * 0.5 * 0.5 / 40.
    assert epoch(1, 0.8, 0.5).standard_error == pytest.approx(0.0215, abs=1e-4)
    assert epoch(1, 0.8, 0.5, gold=40000).standard_error == pytest.approx(0.00215, abs=1e-5)
    assert epoch(1, 1.0, 0.0).standard_error == epoch(1, 0.0, 0.0, gold=0).standard_error == 0


def test_the_last_epoch_that_is_not_clearly_worse_is_kept():
    epochs = [epoch(1, 0.60, 0.5), epoch(2, 0.80, 0.5), epoch(3, 0.785, 0.5), epoch(4, 0.77, 0.5)]
    chosen = [best_of(epochs, tolerance).number for tolerance in (0, 0.5, 1, 1.5, 100)]
    assert chosen == [2, 2, 3, 4, 4]
    # With more development data, the same difference is clear.
    more = [epoch(each.number, each.f1, 0.5, gold=40000) for each in epochs]
    assert best_of(more, 1).number == 2
    # The weights that are kept after each epoch are those of the best one at the end.
    for tolerance in (0, 0.5, 1, 1.5, 100):
        kept = None
        for end in range(1, len(epochs) + 1):
            if best_of(epochs[:end], tolerance) is epochs[end - 1]:
                kept = epochs[end - 1]
        assert kept is best_of(epochs, tolerance)
