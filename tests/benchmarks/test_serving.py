"""The load on the service: what is sent, and how figures are compared."""


def test_texts_are_always_the_same(benchmark):
    serving = benchmark("serving")
    texts = serving.texts()
    assert texts == serving.texts()
    assert len(texts) > 2000
    assert all(text.strip() for text in texts)


def test_comparison(benchmark):
    one = {"per_second": 100.0, "median_ms": 4.0, "p99_ms": 8.0}
    many = {"per_second": 350.0, "median_ms": 30.0, "p99_ms": 36.0}
    assert benchmark("serving").compared(one, many) == {
        "throughput_ratio": 3.5,
        "p99_to_median_of_one": 9.0,
        "p99_to_p99_of_one": 4.5,
    }
