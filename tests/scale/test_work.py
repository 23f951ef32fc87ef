"""Plans: every line and every row is in exactly one block."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag.corpora.tables import TableOptions
from discotag.errors import InputError
from discotag.scale.columns import examine
from discotag.scale.reading import BlockReading, lines_in
from discotag.scale.sources import find_sources
from discotag.scale.work import (
    BLOCKS,
    LARGEST_BLOCK,
    SMALLEST_BLOCK,
    Extent,
    Range,
    Work,
    choose_size,
    make_blocks,
)
from discotag.words import Splitter

extents = st.lists(
    st.builds(Extent, st.integers(0, 300), st.sampled_from([1.0, 4.0, 0.3, 1000.0]), st.booleans()),
    max_size=8,
)


@given(extents, st.integers(1, 400))
def test_units_are_planned_once_and_in_order(given, size):
    blocks = make_blocks(given, size)
    assert [
        (part.file, unit)
        for block in blocks
        for part in block
        for unit in range(part.start, part.end)
    ] == [(file, unit) for file, each in enumerate(given) for unit in range(each.units)]
    assert all(blocks)


@given(extents, st.integers(1, 400))
def test_blocks_have_about_the_size(given, size):
    for block in make_blocks(given, size):
        weight = sum((part.end - part.start) * given[part.file].weight for part in block)
        first = given[block[0].file]
        alone = len(block) == 1 and (not first.divisible or first.weight > size)
        # Ranges of a file differ by up to one unit.
        assert alone or weight <= size + first.weight


def test_small_files_share_a_block_and_large_ones_are_divided():
    small, large, packed = Extent(10, 1, True), Extent(250, 1, True), Extent(200, 4, False)
    assert make_blocks([small] * 25 + [large, packed, small], 100) == [
        tuple(Range(n, 0, 10) for n in range(10)),
        tuple(Range(n, 0, 10) for n in range(10, 20)),
        tuple(Range(n, 0, 10) for n in range(20, 25)),
        (Range(25, 0, 83),),
        (Range(25, 83, 166),),
        (Range(25, 166, 250),),
        (Range(26, 0, 200),),
        (Range(27, 0, 10),),
    ]
    with pytest.raises(InputError, match="at least 1 byte"):
        make_blocks([small], 0)


def test_the_size_of_blocks_depends_on_the_input():
    assert choose_size([]) == choose_size([Extent(1000, 1, True)]) == SMALLEST_BLOCK
    assert choose_size([Extent(1 << 40, 1, True)]) == LARGEST_BLOCK
    middle = [Extent(1 << 30, 1, True)] * 2
    assert len(make_blocks(middle, choose_size(middle))) == BLOCKS


CONTENTS = st.lists(
    st.tuples(
        st.sampled_from([b"", b"a", b"bb" * 3, b"\r", b" ", "é😀".encode(), b"x" * 60]),
        st.sampled_from([b"\n", b"\n", b"\r\n"]),
    ),
    max_size=12,
)


@settings(max_examples=300)
@given(CONTENTS, st.binary(max_size=5), st.booleans(), st.integers(1, 40))
def test_each_line_is_in_one_range(tmp_path_factory, contents, end, mark, size):
    """Long lines, blank lines, CRLF, no line end at the end, and a byte-order mark."""
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    content = b"\xef\xbb\xbf" * mark + b"".join(map(b"".join, contents)) + end
    path.write_bytes(content)
    (source,) = find_sources([str(path)])
    blocks = make_blocks([Extent(len(content), 1, True)], size)
    found = [each for block in blocks for part in block for each in lines_in(source, part)]
    wanted = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not wanted[-1]:
        wanted.pop()
    if content == b"\xef\xbb\xbf":  # a line with nothing but the mark
        wanted = [b""]
    lines = [
        line.removesuffix(b"\r") if n < len(wanted) - 1 else line for n, line in enumerate(wanted)
    ]
    if content.endswith(b"\n"):
        lines = [line.removesuffix(b"\r") for line in wanted]
    assert [line for _, line in found] == lines
    places = [place for place, _ in found]
    assert places == sorted(set(places))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=4), st.integers(1, 12), st.integers(1, 200)
)
def test_each_row_is_in_one_block(tmp_path_factory, rows, group, size):
    folder = tmp_path_factory.mktemp("rows")
    for number, count in enumerate(rows):
        texts = pa.array([f"text {number} {row}" for row in range(count)], pa.string())
        pq.write_table(
            pa.table({"text": texts}), folder / f"{number}.parquet", row_group_size=group
        )
    sources = find_sources([str(folder)])
    columns, counts, weight, _ = examine(sources, TableOptions("text"))
    blocks = make_blocks([Extent(each, weight, True) for each in counts], size)
    work = Work(
        "",
        "jsonl",
        tuple(sources),
        columns,
        size,
        tuple(blocks),
        None,
        "",
        "onnx",
        "cpu",
        Splitter(),
    )
    found = [
        document
        for block in range(len(blocks))
        for document in BlockReading(work, block).documents()
    ]
    wanted = [(n, row) for n, count in enumerate(rows) for row in range(count)]
    assert [each.text for each in found] == [f"text {n} {row}" for n, row in wanted]
    assert [each.extra["row"] for each in found] == [row + 1 for _, row in wanted]


def test_compressed_files_are_not_divided(tmp_path):
    for name, number in (("a.jsonl.gz", 1), ("b.jsonl.gz", 500)):
        with gzip.open(tmp_path / name, "wt") as stream:
            for n in range(number):
                stream.write(json.dumps({"text": f"number {n}"}) + "\n")
    sources = find_sources([str(tmp_path)])
    assert all(source.packed for source in sources)
    blocks = make_blocks([Extent(each.size, 4, False) for each in sources], 100)
    assert blocks == [(Range(n, 0, source.size),) for n, source in enumerate(sources)]
    work = Work(
        "", "jsonl", tuple(sources), None, 100, tuple(blocks), None, "", "onnx", "cpu", Splitter()
    )
    reading = BlockReading(work, 1)
    assert sum(1 for _ in reading.documents()) == 500
    assert reading.lines == [500]
