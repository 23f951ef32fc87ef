"""Test that a pipeline runs all generators to their ends, up to `depth` at a time."""

import gc

import pytest

from discotag.prediction.pipeline import collection_paused, run_pipeline


class Watch:
    def __init__(self):
        self.active = self.most = 0
        self.steps = []

    def work(self, number, waits):
        self.active += 1
        self.most = max(self.most, self.active)
        for step in range(waits):
            self.steps.append((number, step))
            yield
        self.active -= 1
        return number


@pytest.mark.parametrize("depth", [1, 2, 3, 9])
@pytest.mark.parametrize("waits", [[], [0], [3] * 7, [0, 3, 1, 0, 2, 5, 1]])
def test_all_are_done(depth, waits):
    watch = Watch()
    found = list(run_pipeline((watch.work(n, w) for n, w in enumerate(waits)), depth))
    assert sorted(found) == list(range(len(waits)))
    assert watch.active == 0
    assert watch.most <= depth
    for number, times in enumerate(waits):
        assert [s for n, s in watch.steps if n == number] == list(range(times))
    if depth == 1:
        assert found == list(range(len(waits)))


def test_new_work_begins_before_older_work_continues():
    watch = Watch()
    list(run_pipeline((watch.work(n, 2) for n in range(3)), 3))
    assert watch.steps.index((1, 0)) < watch.steps.index((0, 1))
    assert watch.steps.index((2, 0)) < watch.steps.index((1, 1))


def test_an_error_is_raised():
    def bad():
        yield
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        list(run_pipeline([bad()], 2))


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_paused_only_while_work_goes_on(enabled):
    seen = []

    def work(fails):
        seen.append(gc.isenabled())
        yield
        if fails:
            raise RuntimeError

    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        assert list(run_pipeline([work(False)], depth=1)) == [None]
        assert gc.isenabled() == enabled
        with pytest.raises(RuntimeError):
            list(run_pipeline([work(True)], depth=1))
        assert gc.isenabled() == enabled
        with collection_paused(), collection_paused():
            pass
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
    assert seen == [False, False]
