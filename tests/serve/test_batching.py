"""The queue: order, slices, shared batches, and engines that fail, with an engine that counts."""

import asyncio
import threading

import pytest

from discotag.prediction.wanted import Wanted
from discotag.serve.batching import BATCH, SLICE, Scheduler
from discotag.serve.engine import Task
from discotag.serve.engines import BatchFailed, EngineDied
from discotag.web.errors import ServiceError

MENTIONS = Task("m")


class Counting:
    """An engine that finds the words of each sentence; it does so when it is told to."""

    def __init__(self):
        self.batches = []
        self.may_go_on = asyncio.Semaphore(0)
        self.poison = None
        self.deadly = None
        self.starts = 0
        self.runs = False

    async def start(self, on_exit=lambda: None):
        self.starts += 1
        self.runs = True

    async def stop(self):
        self.runs = False

    async def tag(self, task, sentences):
        self.batches.append((task, [" ".join(each) for each in sentences]))
        await self.may_go_on.acquire()
        words = {word for each in sentences for word in each}
        if self.poison in words:
            raise BatchFailed("ValueError")
        if self.deadly in words:
            raise EngineDied
        return [list(each) for each in sentences]

    def free(self, times=1):
        for _ in range(times):
            self.may_go_on.release()

    @property
    def texts(self):
        return [texts for _, texts in self.batches]


def scenario(play, *, engines=1, most=10**6):
    """Play a scenario in a thread of its own, because a browser's loop may run in this one."""
    failures = []

    async def played():
        made = [Counting() for _ in range(engines)]
        scheduler = Scheduler(made, most)
        await scheduler.start()
        try:
            async with asyncio.timeout(20):
                await play(scheduler, *made)
        finally:
            await scheduler.stop()

    def run():
        try:
            asyncio.run(played())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


async def settled():
    for _ in range(20):
        await asyncio.sleep(0)


def ask(scheduler, *texts, task=MENTIONS):
    return asyncio.create_task(scheduler.tag(task, [text.split() for text in texts]))


def test_what_waits_becomes_a_batch_in_order():
    async def play(scheduler, engine):
        first = ask(scheduler, "a")
        await settled()
        others = [ask(scheduler, text) for text in "bcde"]
        await settled()
        assert engine.texts == [["a"]]
        engine.free()
        assert await first == [["a"]]
        engine.free()
        assert [await each for each in others] == [[["b"]], [["c"]], [["d"]], [["e"]]]
        assert engine.texts[1] == ["b", "c", "d", "e"]
        assert scheduler.waiting == 0

    scenario(play)


def test_requests_that_arrive_together_share_the_first_batch():
    async def play(scheduler, engine):
        asked = [ask(scheduler, text) for text in "abc"]
        await settled()
        assert engine.texts == [["a", "b", "c"]]
        engine.free()
        await asyncio.gather(*asked)

    scenario(play)


def test_tasks_are_not_mixed():
    async def play(scheduler, engine):
        other = Task("m", Wanted(bias=1.0))
        busy = ask(scheduler, "x")
        await settled()
        asked = [ask(scheduler, "a"), ask(scheduler, "b", task=other), ask(scheduler, "c")]
        engine.free(3)
        await asyncio.gather(busy, *asked)
        assert engine.batches[1:] == [(MENTIONS, ["a", "c"]), (other, ["b"])]

    scenario(play)


def test_large_requests_are_cut_and_small_ones_come_in_between():
    async def play(scheduler, engine):
        sentence = "w " * (SLICE // 4)
        large = ask(scheduler, *[sentence] * 40)
        await settled()
        assert sum(len(each.split()) for each in engine.texts[0]) == SLICE
        small = ask(scheduler, "small")
        await settled()
        engine.free(2)
        assert await small == [["small"]]
        assert not large.done()
        assert "small" in engine.texts[1]
        engine.free(100)
        assert len(await large) == 40
        assert all(
            sum(len(each.split()) for each in texts) <= BATCH + SLICE for texts in engine.texts
        )

    scenario(play)


def test_several_large_requests_take_turns():
    async def play(scheduler, engine):
        sentences = [["w"] * SLICE] * 6
        asked = [
            asyncio.create_task(scheduler.tag(Task("m", Wanted(bias=float(number))), sentences))
            for number in range(3)
        ]
        engine.free(100)
        await asyncio.gather(*asked)
        order = [task.wanted.bias for task, _ in engine.batches]
        assert order == [0.0, 1.0, 2.0] * 6

    scenario(play)


def test_engines_share_the_work():
    async def play(scheduler, one, two):
        asked = [ask(scheduler, "a b c d") for _ in range(16)]
        await settled()
        assert [len(one.texts[0]), len(two.texts[0])] == [6, 6]
        one.free(5)
        two.free(5)
        await asyncio.gather(*asked)

    scenario(play, engines=2)


def test_idle_engines_share_a_request_that_is_alone():
    async def play(scheduler, one, two):
        asked = ask(scheduler, *["w " * 20] * 8)
        await settled()
        assert [len(one.texts[0]), len(two.texts[0])] == [4, 4]
        one.free(2)
        two.free(2)
        assert len(await asked) == 8

    scenario(play, engines=2)


def test_small_requests_are_not_cut():
    async def play(scheduler, one, two):
        asked = [ask(scheduler, "a b", "c d", "e f") for _ in range(3)]
        await settled()
        one.free(5)
        two.free(5)
        await asyncio.gather(*asked)
        assert all(len(texts) % 3 == 0 for texts in one.texts + two.texts)

    scenario(play, engines=2)


def test_cancelled_requests_are_dropped():
    async def play(scheduler, engine):
        busy = ask(scheduler, "x")
        await settled()
        gone = [ask(scheduler, "gone") for _ in range(5)]
        kept = ask(scheduler, "kept")
        await settled()
        for each in gone:
            each.cancel()
        await settled()
        assert scheduler.waiting == 2
        engine.free(5)
        await busy
        await kept
        assert engine.texts == [["x"], ["kept"]]
        assert scheduler.waiting == 0

    scenario(play)


def test_cancelled_while_it_is_tagged():
    async def play(scheduler, engine):
        gone = ask(scheduler, *["w " * SLICE] * 5)
        await settled()
        gone.cancel()
        kept = ask(scheduler, "kept")
        await settled()
        engine.free(5)
        assert await kept == [["kept"]]
        assert len(engine.texts) == 2

    scenario(play)


def test_the_queue_is_bounded():
    async def play(scheduler, engine):
        first = ask(scheduler, "a " * 90)
        await settled()
        second = ask(scheduler, "b " * 10)
        await settled()
        with pytest.raises(ServiceError) as caught:
            await scheduler.tag(MENTIONS, [["c"]])
        assert caught.value.status == 503
        assert caught.value.headers == {"Retry-After": "1"}
        engine.free(5)
        await first
        await second
        assert await ask(scheduler, "c") == [["c"]]

    scenario(play, most=100)


@pytest.mark.parametrize("harm", ["poison", "deadly"])
def test_a_text_that_fails_does_not_take_others_with_it(monkeypatch, harm):
    """It is tried twice only, also if it ends the engine."""
    monkeypatch.setattr("discotag.serve.batching.MOST_WAIT", 0.0)

    async def play(scheduler, engine):
        setattr(engine, harm, "bad")
        busy = ask(scheduler, "x")
        await settled()
        asked = [ask(scheduler, text) for text in ("good", "bad", "fine")]
        engine.free(10)
        await busy
        results = await asyncio.gather(*asked, return_exceptions=True)
        assert [results[0], results[2]] == [[["good"]], [["fine"]]]
        assert isinstance(results[1], ServiceError)
        assert results[1].status == 500
        if harm == "poison":
            assert engine.starts == 1
        else:
            assert engine.starts >= 2
        assert scheduler.alive <= 1
        assert scheduler.waiting == 0

    scenario(play)


def test_no_sentences():
    async def play(scheduler, engine):
        assert await scheduler.tag(MENTIONS, []) == []
        engine.free()
        assert await scheduler.tag(MENTIONS, [[]]) == [[]]

    scenario(play)
