from discotag.training.epochs import FIGURES, Epoch, best_of


def epoch(number, f1, discontinuous):
    parts = {"all": f1, "discontinuous_sentences": 0.0, "discontinuous": discontinuous}
    figures = {part: dict.fromkeys(FIGURES, value) for part, value in parts.items()}
    return Epoch(number, number, 1.0, figures)


def test_the_best_epoch_finds_discontinuous_mentions():
    assert best_of([epoch(1, 0.70, 0.0), epoch(2, 0.69, 0.3)]).number == 2
    assert best_of([epoch(1, 0.70, 0.0), epoch(2, 0.65, 0.3)]).number == 1
    assert best_of([epoch(1, 0.70, 0.2), epoch(2, 0.70, 0.2)]).number == 1
