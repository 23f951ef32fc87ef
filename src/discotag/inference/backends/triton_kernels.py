"""Triton kernels: a program is one sentence, a lane one state.

The grammar is read from tables, level by level as in `arrays.Plan`. Values are kept in memory, a
row of states for each word and one for the end, because lanes read what other lanes wrote.

    source  (places, states of the level) for each level, concatenated: a state, whose value after
            the word is used, or STATES + a state, whose value before the word is used, which an
            earlier level has computed
    tag     in the same layout: TAGS for padding, TAGS + 1 for no tag
    state   the states of all levels, concatenated
"""

import triton
import triton.language as tl


@triton.jit
def _arc(values, scores, source, tag, entry, live, STATES: tl.constexpr, TAGS: tl.constexpr):
    """Return value, source and tag of the arcs at these entries of the tables.

    `values` is the row of the values before the word.
    """
    origin = tl.load(source + entry, mask=live, other=0)
    number = tl.load(tag + entry, mask=live, other=TAGS)
    # The values after the word are in the next row.
    place = tl.where(origin < STATES, origin + STATES, origin - STATES)
    value = tl.load(values + place, mask=live, other=float("-inf"))
    score = tl.load(scores + number, mask=number < TAGS, other=0.0).to(tl.float32)
    return tl.where(number == TAGS, float("-inf"), value + score), origin, number


@triton.jit
def _sweep(
    values,
    scores,
    mask,
    mask_word,
    source,
    tag,
    state,
    final,
    words,
    STATES: tl.constexpr,
    TAGS: tl.constexpr,
    LEVELS: tl.constexpr,
    LEVEL_COUNT: tl.constexpr,
    SUM: tl.constexpr,
    MASKED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Compute the rows of values, from the last to the first."""
    lanes = tl.arange(0, BLOCK)
    for tile in range(0, STATES, BLOCK):
        here = tile + lanes
        ends = tl.load(final + here, mask=here < STATES, other=0)
        row = values + words * STATES + here
        tl.store(row, tl.where(ends != 0, 0.0, float("-inf")), mask=here < STATES)
    tl.debug_barrier()
    for step in range(words):
        word = words - 1 - step
        row = values + word * STATES
        given = True
        if MASKED:
            given = tl.load(mask + word * mask_word) != 0
        for level in tl.static_range(LEVEL_COUNT):
            for tile in range(0, LEVELS[level][3], BLOCK):
                here = tile + lanes
                live = here < LEVELS[level][3]
                mine = tl.load(state + LEVELS[level][1] + here, mask=live, other=0)
                highest = tl.full([BLOCK], float("-inf"), tl.float32)
                powers = tl.zeros([BLOCK], tl.float32)
                for place in range(LEVELS[level][2]):
                    entry = LEVELS[level][0] + place * LEVELS[level][3] + here
                    value, _, _ = _arc(
                        row, scores + word * TAGS, source, tag, entry, live, STATES, TAGS
                    )
                    higher = tl.maximum(highest, value)
                    if SUM:
                        shift = tl.where(higher == float("-inf"), 0.0, higher)
                        powers = powers * tl.exp(highest - shift) + tl.exp(value - shift)
                    highest = higher
                if SUM:
                    shift = tl.where(highest == float("-inf"), 0.0, highest)
                    highest = shift + tl.log(powers)
                if MASKED:
                    before = tl.load(row + STATES + mine, mask=live, other=0.0)
                    highest = tl.where(given, highest, before)
                tl.store(row + mine, highest, mask=live)
            tl.debug_barrier()


@triton.jit(do_not_specialize=["words", "stride", "mask_row", "mask_word"])
def best_kernel(
    scores,
    mask,
    mask_row,
    mask_word,
    values,
    tags,
    best,
    source,
    tag,
    state,
    final,
    fan_tag,
    fan_target,
    words,
    stride,
    STATES: tl.constexpr,
    TAGS: tl.constexpr,
    START: tl.constexpr,
    LEVELS: tl.constexpr,
    LEVEL_COUNT: tl.constexpr,
    PLACES: tl.constexpr,
    WIDTH: tl.constexpr,
    MASKED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Store the best tags in `tags` and their score in `best`.

    PLACES is the size of a fan, WIDTH the next power of two.
    """
    sentence = tl.program_id(0).to(tl.int64)
    scores += sentence * stride
    values += sentence * (words + 1) * STATES
    mask += sentence * mask_row
    _sweep(
        values, scores, mask, mask_word, source, tag, state, final, words,
        STATES, TAGS, LEVELS, LEVEL_COUNT, False, MASKED, BLOCK,
    )  # fmt: skip
    tl.store(best + sentence, tl.load(values + START))
    places = tl.arange(0, WIDTH)
    here = START
    for word in range(words):
        entry = places * STATES + here
        number = tl.load(fan_tag + entry, mask=places < PLACES, other=TAGS)
        target = tl.load(fan_target + entry, mask=places < PLACES, other=0)
        score = tl.load(scores + word * TAGS + number, mask=number < TAGS, other=0.0)
        value = tl.load(values + (word + 1) * STATES + target) + score.to(tl.float32)
        value = tl.where(number == TAGS, float("-inf"), value)
        # The first place with the highest value; tl.argmax does not define which one it returns.
        place = tl.min(tl.where(value == tl.max(value, 0), places, WIDTH - 1), 0)
        chosen = tl.sum(tl.where(places == place, number, 0), 0)
        onward = tl.sum(tl.where(places == place, target, 0), 0)
        if MASKED:
            given = tl.load(mask + word * mask_word) != 0
            chosen = tl.where(given, chosen, -1)
            onward = tl.where(given, onward, here)
        tl.store(tags + sentence * words + word, chosen.to(tl.int64))
        here = onward


@triton.jit(do_not_specialize=["words", "stride", "mask_row", "mask_word"])
def k_best_kernel(
    scores,
    mask,
    mask_row,
    mask_word,
    values,
    choices,
    tags,
    fan_tag,
    fan_target,
    final,
    words,
    stride,
    STATES: tl.constexpr,
    TAGS: tl.constexpr,
    START: tl.constexpr,
    PLACES: tl.constexpr,
    WIDTH: tl.constexpr,
    MASKED: tl.constexpr,
    RANKS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Store the RANKS best tag sequences in `tags`; their scores are the first values of START.

    `values` has RANKS scores for each state, for each word and for the end. `choices` has, for each
    word, state and rank, the place in the fan times RANKS plus the rank of what follows. BLOCK is
    the number of states that are computed together, and RANKS, WIDTH and BLOCK are powers of two.
    """
    sentence = tl.program_id(0).to(tl.int64)
    scores += sentence * stride
    values += sentence * (words + 1) * STATES * RANKS
    choices += sentence * words * STATES * RANKS
    tags += sentence * RANKS * words
    mask += sentence * mask_row
    lanes = tl.arange(0, BLOCK)
    ranks = tl.arange(0, RANKS)
    columns = tl.arange(0, WIDTH * RANKS)
    places = columns // RANKS
    for tile in range(0, STATES, BLOCK):
        here = tile + lanes
        live = here < STATES
        ends = tl.load(final + here, mask=live, other=0)
        first = (ends != 0)[:, None] & (ranks == 0)[None, :]
        row = values + (words * STATES + here[:, None]) * RANKS + ranks[None, :]
        tl.store(row, tl.where(first, 0.0, float("-inf")), mask=live[:, None])
    tl.debug_barrier()
    for step in range(words):
        word = words - 1 - step
        row = values + word * STATES * RANKS
        onward = row + STATES * RANKS
        given = True
        if MASKED:
            given = tl.load(mask + word * mask_word) != 0
        for tile in range(0, STATES, BLOCK):
            here = tile + lanes
            live = here < STATES
            entry = places[None, :] * STATES + here[:, None]
            known = live[:, None] & (places < PLACES)[None, :]
            number = tl.load(fan_tag + entry, mask=known, other=TAGS)
            target = tl.load(fan_target + entry, mask=known, other=0)
            score = tl.load(scores + word * TAGS + number, mask=number < TAGS, other=0.0)
            value = tl.load(onward + target * RANKS + columns[None, :] % RANKS)
            value = tl.where(number < TAGS, value + score.to(tl.float32), float("-inf"))
            # The highest value that comes after the one before; of equal ones, the first column.
            highest = tl.full([BLOCK], float("inf"), tl.float32)
            column = tl.full([BLOCK], -1, tl.int32)
            for order in range(RANKS):
                later = (value == highest[:, None]) & (columns[None, :] > column[:, None])
                left = tl.where((value < highest[:, None]) | later, value, float("-inf"))
                following = tl.max(left, 1)
                same = (value == following[:, None]) & ((value < highest[:, None]) | later)
                column = tl.min(tl.where(same, columns[None, :], WIDTH * RANKS - 1), 1)
                highest = following
                kept = highest
                if MASKED:
                    before = tl.load(onward + here * RANKS + order, mask=live, other=0.0)
                    kept = tl.where(given, highest, before)
                tl.store(row + here * RANKS + order, kept, mask=live)
                tl.store(choices + (word * STATES + here) * RANKS + order, column, mask=live)
        tl.debug_barrier()
    possible = tl.load(values + START * RANKS + ranks) > float("-inf")
    here = tl.full([RANKS], START, tl.int32)
    rank = ranks
    for word in range(words):
        known = possible
        if MASKED:
            known = possible & (tl.load(mask + word * mask_word + 0 * ranks) != 0)
        column = tl.load(choices + (word * STATES + here) * RANKS + rank, mask=known, other=0)
        entry = column // RANKS * STATES + here
        number = tl.load(fan_tag + entry, mask=known, other=-1)
        tl.store(tags + ranks * words + word, number.to(tl.int64))
        here = tl.load(fan_target + entry, mask=known, other=0) + tl.where(known, 0, here)
        rank = tl.where(known, column % RANKS, rank)


@triton.jit(do_not_specialize=["words", "stride", "mask_row", "mask_word"])
def sum_kernel(
    scores,
    mask,
    mask_row,
    mask_word,
    values,
    total,
    pools,
    found,
    source,
    tag,
    state,
    final,
    words,
    stride,
    STATES: tl.constexpr,
    TAGS: tl.constexpr,
    START: tl.constexpr,
    LEVELS: tl.constexpr,
    LEVEL_COUNT: tl.constexpr,
    MARGINALS: tl.constexpr,
    MASKED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Store the log-partition in `total`; with MARGINALS, add the marginals to `found`.

    `pools` is scratch memory, two rows of states for each sentence; `found` must be 0. See
    `algorithms.marginals` for how marginals are computed.
    """
    sentence = tl.program_id(0).to(tl.int64)
    scores += sentence * stride
    values += sentence * (words + 1) * STATES
    mask += sentence * mask_row
    _sweep(
        values, scores, mask, mask_word, source, tag, state, final, words,
        STATES, TAGS, LEVELS, LEVEL_COUNT, True, MASKED, BLOCK,
    )  # fmt: skip
    tl.store(total + sentence, tl.load(values + START))
    if MARGINALS:
        pools += sentence * 2 * STATES
        found += sentence * words * TAGS
        lanes = tl.arange(0, BLOCK)
        for tile in range(0, STATES, BLOCK):
            here = tile + lanes
            tl.store(pools + here, tl.where(here == START, 1.0, 0.0), mask=here < STATES)
        for word in range(words):
            row = values + word * STATES
            now = pools + word % 2 * STATES
            onward = pools + (word + 1) % 2 * STATES
            given = True
            if MASKED:
                given = tl.load(mask + word * mask_word) != 0
            tl.debug_barrier()
            # Reads bypass the L1 cache, which does not see the results of atomic_add.
            for tile in range(0, STATES, BLOCK):
                here = tile + lanes
                kept = tl.load(now + here, mask=here < STATES, other=0.0, cache_modifier=".cg")
                if MASKED:
                    kept = tl.where(given, 0.0, kept)
                else:
                    kept = kept * 0
                tl.store(onward + here, kept, mask=here < STATES)
            tl.debug_barrier()
            for backward in tl.static_range(LEVEL_COUNT):
                for tile in range(0, LEVELS[LEVEL_COUNT - 1 - backward][3], BLOCK):
                    here = tile + lanes
                    live = here < LEVELS[LEVEL_COUNT - 1 - backward][3]
                    first = LEVELS[LEVEL_COUNT - 1 - backward][1]
                    mine = tl.load(state + first + here, mask=live, other=0)
                    pool = tl.load(now + mine, mask=live, other=0.0, cache_modifier=".cg")
                    highest = tl.full([BLOCK], float("-inf"), tl.float32)
                    powers = tl.zeros([BLOCK], tl.float32)
                    for place in range(LEVELS[LEVEL_COUNT - 1 - backward][2]):
                        entry = (
                            LEVELS[LEVEL_COUNT - 1 - backward][0]
                            + place * LEVELS[LEVEL_COUNT - 1 - backward][3]
                            + here
                        )
                        value, _, _ = _arc(
                            row, scores + word * TAGS, source, tag, entry, live, STATES, TAGS
                        )
                        higher = tl.maximum(highest, value)
                        shift = tl.where(higher == float("-inf"), 0.0, higher)
                        powers = powers * tl.exp(highest - shift) + tl.exp(value - shift)
                        highest = higher
                    shift = tl.where(highest == float("-inf"), 0.0, highest)
                    share = pool / tl.where(powers > 0, powers, 1.0)
                    flows = live & (share > 0)
                    if MASKED:
                        flows = flows & given
                    for place in range(LEVELS[LEVEL_COUNT - 1 - backward][2]):
                        entry = (
                            LEVELS[LEVEL_COUNT - 1 - backward][0]
                            + place * LEVELS[LEVEL_COUNT - 1 - backward][3]
                            + here
                        )
                        value, origin, number = _arc(
                            row, scores + word * TAGS, source, tag, entry, live, STATES, TAGS
                        )
                        flow = tl.exp(value - shift) * share
                        taken = tl.where(flows, flow, 0.0)
                        shared = origin >= STATES
                        target = tl.where(shared, now + origin - STATES, onward + origin)
                        tl.atomic_add(target, taken, mask=taken > 0)
                        taken = tl.where(number < TAGS, taken, 0.0)
                        tl.atomic_add(found + word * TAGS + number, taken, mask=taken > 0)
                tl.debug_barrier()
