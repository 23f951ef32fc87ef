"""Triton kernels with an unrolled grammar: a program is a block of sentences, a lane one sentence.

Names in capitals are compile-time constants; see `triton_backend.Unrolled`. Values per state or per
tag are tuples of tensors, which Triton keeps in registers.
"""

import triton
import triton.language as tl


@triton.jit
def _load(start, stride, here, SIZE: tl.constexpr):
    """Load SIZE values for each lane, `stride` apart."""
    found = ()
    for k in tl.static_range(SIZE):
        found = found + (tl.load(start + k * stride, mask=here, other=0.0),)
    return found


@triton.jit
def _load_scores(
    row, offset, limit, here, SIZE: tl.constexpr, ALIGNED: tl.constexpr, PARTIAL: tl.constexpr
):
    """Load SIZE scores for each lane, from an offset on.

    ALIGNED: rows begin at multiples of four, so four scores are read per access. PARTIAL: scores
    from `limit` on do not exist and are set to 0.
    """
    found = ()
    none = here.to(tl.int32) * 0
    if ALIGNED and SIZE % 4 == 0:
        for k in tl.static_range(0, SIZE, 4):
            allowed = here & (offset + k + none < limit) if PARTIAL else here
            place = row[:, None] + (offset + k + tl.arange(0, 4)[None, :])
            quad = tl.load(place, mask=allowed[:, None], other=0.0).to(tl.float32)
            even, odd = tl.split(tl.reshape(quad, [quad.shape[0], 2, 2]))
            first, third = tl.split(even)
            second, fourth = tl.split(odd)
            found = found + (first, second, third, fourth)
    else:
        for k in tl.static_range(SIZE):
            allowed = here & (offset + k + none < limit) if PARTIAL else here
            score = tl.load(row + offset + k, mask=allowed, other=0.0)
            found = found + (score.to(tl.float32),)
    return found


@triton.jit
def _lanes(batch, BLOCK: tl.constexpr):
    """Return the sentence of each lane, and whether it exists."""
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    return row, row < batch


@triton.jit
def _row(scores, row, stride, ALIGNED: tl.constexpr):
    """Return where the scores of each lane's sentence begin; if ALIGNED, `stride` counts fours."""
    if ALIGNED:
        return scores + row * (stride * 4)
    else:
        return scores + row * stride


@triton.jit
def _given(mask, row, mask_row, mask_word, word, words, here, MASKED: tl.constexpr):
    """Return whether the lane's sentence has this word and it is not masked out."""
    found = here & (word + row * 0 < words)
    if MASKED:
        found = found & (
            tl.load(mask + row * mask_row + word * mask_word, mask=found, other=0) != 0
        )
    return found


@triton.jit
def _ends(STATES: tl.constexpr, FINAL: tl.constexpr, BLOCK: tl.constexpr):
    """Return the values of all states after the last word."""
    found = ()
    for state in tl.static_range(STATES):
        if FINAL[state] == 1:
            found = found + (tl.zeros([BLOCK], tl.float32),)
        else:
            found = found + (tl.full([BLOCK], float("-inf"), tl.float32),)
    return found


@triton.jit
def _kept(given, new, old, SIZE: tl.constexpr):
    """Return the new values where the word is given, else the old values."""
    found = ()
    for k in tl.static_range(SIZE):
        found = found + (tl.where(given, new[k], old[k]),)
    return found


@triton.jit
def _zeros(SIZE: tl.constexpr, BLOCK: tl.constexpr):
    found = ()
    for _ in tl.static_range(SIZE):
        found = found + (tl.zeros([BLOCK], tl.float32),)
    return found


@triton.jit(do_not_specialize=["batch", "words", "stride", "mask_row", "mask_word"])
def best_kernel(
    scores,
    mask,
    mask_row,
    mask_word,
    pointers,
    tags,
    best,
    fan_tag,
    fan_target,
    batch,
    words,
    stride,
    STATES: tl.constexpr,
    TAGS: tl.constexpr,
    START: tl.constexpr,
    FIRST: tl.constexpr,
    TAG: tl.constexpr,
    TARGET: tl.constexpr,
    FINAL: tl.constexpr,
    WIDTH: tl.constexpr,
    ARCS: tl.constexpr,
    GROUP: tl.constexpr,
    ALIGNED: tl.constexpr,
    MASKED: tl.constexpr,
    PARTIAL: tl.constexpr,
    BITS: tl.constexpr,
    PER_CHUNK: tl.constexpr,
    CHUNKS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Store the best tags in `tags` and their scores in `best`.

    `pointers` is scratch memory for the places of the best arcs: BITS per state, PER_CHUNK states
    in an integer, CHUNKS integers per word.
    """
    row, here = _lanes(batch, BLOCK)
    wide = tl.zeros([BLOCK], tl.int64) + batch  # offsets may go beyond 32 bits
    mine = _row(scores, row, stride, ALIGNED)
    limit = words * TAGS
    values = _ends(STATES, FINAL, BLOCK)
    last = tl.cdiv(words, GROUP) - 1
    now = _load_scores(mine, last * (GROUP * TAGS), limit, here, GROUP * TAGS, ALIGNED, PARTIAL)
    for step in range(last + 1):
        group = last - step
        # Load the scores of the next group while this one is computed.
        next_group = tl.maximum(group - 1, 0)
        ahead = _load_scores(
            mine, next_group * (GROUP * TAGS), limit, here, GROUP * TAGS, ALIGNED, PARTIAL
        )
        for k in tl.static_range(GROUP):
            word = group * GROUP + (GROUP - 1 - k)
            inside = here & (word + row * 0 < words)
            given = _given(mask, row, mask_row, mask_word, word, words, here, MASKED)
            new = ()
            packed = tl.zeros([BLOCK], tl.int32)
            for state in tl.static_range(STATES):
                highest = (
                    now[(GROUP - 1 - k) * TAGS + TAG[FIRST[state]]] + values[TARGET[FIRST[state]]]
                )
                place = tl.zeros([BLOCK], tl.int32)
                for n in tl.static_range(1, WIDTH):
                    if FIRST[state] + n < FIRST[state + 1]:
                        value = (
                            now[(GROUP - 1 - k) * TAGS + TAG[FIRST[state] + n]]
                            + values[TARGET[FIRST[state] + n]]
                        )
                        better = value > highest  # of equal values, keep the lower tag
                        highest = tl.where(better, value, highest)
                        place = tl.where(better, n, place)
                new = new + (highest,)
                packed |= place << (state % PER_CHUNK * BITS)
                if state % PER_CHUNK == PER_CHUNK - 1 or state == STATES - 1:
                    chunk = word * CHUNKS + state // PER_CHUNK
                    tl.store(pointers + chunk * wide + row, packed, mask=inside)
                    packed = tl.zeros([BLOCK], tl.int32)
            values = _kept(given, new, values, STATES) if MASKED or PARTIAL else new
        now = ahead
    tl.store(best + row, values[START], mask=here)
    state = tl.full([BLOCK], START, tl.int32)
    packs = _load(pointers + row, wide, here, CHUNKS)
    for word in range(words):
        next_word = tl.minimum(word + 1, words - 1)
        packs_ahead = _load(pointers + next_word * CHUNKS * wide + row, wide, here, CHUNKS)
        packed = packs[0]
        for chunk in tl.static_range(1, CHUNKS):
            packed = tl.where(state // PER_CHUNK == chunk, packs[chunk], packed)
        place = (packed >> (state % PER_CHUNK * BITS)) & ((1 << BITS) - 1)
        tag = tl.load(fan_tag + place * STATES + state)
        onward = tl.load(fan_target + place * STATES + state)
        if MASKED:
            given = _given(mask, row, mask_row, mask_word, word, words, here, MASKED)
            tag = tl.where(given, tag, -1)
            onward = tl.where(given, onward, state)
        tl.store(tags + word * wide + row, tag.to(tl.int64), mask=here)
        state = onward
        packs = packs_ahead


@triton.jit(do_not_specialize=["batch", "words", "stride", "mask_row", "mask_word"])
def sum_kernel(
    scores,
    mask,
    mask_row,
    mask_word,
    after,
    total,
    found,
    batch,
    words,
    stride,
    STATES: tl.constexpr,
    TAGS: tl.constexpr,
    START: tl.constexpr,
    FIRST: tl.constexpr,
    TAG: tl.constexpr,
    TARGET: tl.constexpr,
    FINAL: tl.constexpr,
    WIDTH: tl.constexpr,
    ARCS: tl.constexpr,
    GROUP: tl.constexpr,
    ALIGNED: tl.constexpr,
    MASKED: tl.constexpr,
    PARTIAL: tl.constexpr,
    MARGINALS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Store the log-partition in `total`; with MARGINALS, store the marginals in `found`.

    See `algorithms.marginals` for how they are computed.
    """
    row, here = _lanes(batch, BLOCK)
    wide = tl.zeros([BLOCK], tl.int64) + batch
    mine = _row(scores, row, stride, ALIGNED)
    limit = words * TAGS
    values = _ends(STATES, FINAL, BLOCK)
    last = tl.cdiv(words, GROUP) - 1
    now = _load_scores(mine, last * (GROUP * TAGS), limit, here, GROUP * TAGS, ALIGNED, PARTIAL)
    for step in range(last + 1):
        group = last - step
        next_group = tl.maximum(group - 1, 0)
        ahead = _load_scores(
            mine, next_group * (GROUP * TAGS), limit, here, GROUP * TAGS, ALIGNED, PARTIAL
        )
        for k in tl.static_range(GROUP):
            word = group * GROUP + (GROUP - 1 - k)
            inside = here & (word + row * 0 < words)
            given = _given(mask, row, mask_row, mask_word, word, words, here, MASKED)
            if MARGINALS:
                for state in tl.static_range(STATES):
                    place = (word * STATES + state) * wide + row
                    tl.store(after + place, values[state], mask=inside)
            new = ()
            for state in tl.static_range(STATES):
                highest = (
                    now[(GROUP - 1 - k) * TAGS + TAG[FIRST[state]]] + values[TARGET[FIRST[state]]]
                )
                for n in tl.static_range(1, WIDTH):
                    if FIRST[state] + n < FIRST[state + 1]:
                        value = (
                            now[(GROUP - 1 - k) * TAGS + TAG[FIRST[state] + n]]
                            + values[TARGET[FIRST[state] + n]]
                        )
                        highest = tl.maximum(highest, value)
                highest = tl.where(highest == float("-inf"), 0.0, highest)
                powers = tl.zeros([BLOCK], tl.float32)
                for n in tl.static_range(WIDTH):
                    if FIRST[state] + n < FIRST[state + 1]:
                        value = (
                            now[(GROUP - 1 - k) * TAGS + TAG[FIRST[state] + n]]
                            + values[TARGET[FIRST[state] + n]]
                        )
                        powers += tl.exp(value - highest)
                new = new + (highest + tl.log(powers),)
            values = _kept(given, new, values, STATES) if MASKED or PARTIAL else new
        now = ahead
    tl.store(total + row, values[START], mask=here)
    if MARGINALS:
        pools = ()
        for state in tl.static_range(STATES):
            pools = pools + (tl.full([BLOCK], 1.0 if state == START else 0.0, tl.float32),)
        scores_now = _load_scores(mine, 0, limit, here, TAGS, ALIGNED, False)
        values = _load(after + row, wide, here, STATES)
        for word in range(words):
            next_word = tl.minimum(word + 1, words - 1)
            scores_ahead = _load_scores(mine, next_word * TAGS, limit, here, TAGS, ALIGNED, False)
            values_ahead = _load(after + next_word * STATES * wide + row, wide, here, STATES)
            flows = ()
            for state in tl.static_range(STATES):
                highest = scores_now[TAG[FIRST[state]]] + values[TARGET[FIRST[state]]]
                for n in tl.static_range(1, WIDTH):
                    if FIRST[state] + n < FIRST[state + 1]:
                        highest = tl.maximum(
                            highest,
                            scores_now[TAG[FIRST[state] + n]] + values[TARGET[FIRST[state] + n]],
                        )
                highest = tl.where(highest == float("-inf"), 0.0, highest)
                powers = ()
                total_power = tl.zeros([BLOCK], tl.float32)
                for n in tl.static_range(WIDTH):
                    if FIRST[state] + n < FIRST[state + 1]:
                        power = tl.exp(
                            scores_now[TAG[FIRST[state] + n]]
                            + values[TARGET[FIRST[state] + n]]
                            - highest
                        )
                        powers = powers + (power,)
                        total_power += power
                share = pools[state] / tl.where(total_power > 0, total_power, 1.0)
                for n in tl.static_range(WIDTH):
                    if FIRST[state] + n < FIRST[state + 1]:
                        flows = flows + (powers[n] * share,)
            by_tag = ()
            for tag in tl.static_range(TAGS):
                flow = tl.zeros([BLOCK], tl.float32)
                for arc in tl.static_range(ARCS):
                    if TAG[arc] == tag:
                        flow += flows[arc]
                by_tag = by_tag + (flow,)
            new = ()
            for state in tl.static_range(STATES):
                flow = tl.zeros([BLOCK], tl.float32)
                for arc in tl.static_range(ARCS):
                    if TARGET[arc] == state:
                        flow += flows[arc]
                new = new + (flow,)
            if MASKED:
                given = _given(mask, row, mask_row, mask_word, word, words, here, MASKED)
                by_tag = _kept(given, by_tag, _zeros(TAGS, BLOCK), TAGS)
                pools = _kept(given, new, pools, STATES)
            else:
                pools = new
            for tag in tl.static_range(TAGS):
                tl.store(found + (row * words + word) * TAGS + tag, by_tag[tag], mask=here)
            scores_now = scores_ahead
            values = values_ahead
