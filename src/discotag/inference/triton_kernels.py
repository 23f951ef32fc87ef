"""Triton kernels over an unrolled grammar: a program is a block of sentences, a lane one sentence.

Capital letters are constants, see `triton_backend.Unrolled`; what has one value for each state or
tag is a tuple of tensors, so that it lives in registers.
"""

import triton
import triton.language as tl


@triton.jit
def _load(scores, stride, here, TAGS: tl.constexpr):
    """The scores of a word, tag by tag."""
    found = ()
    for tag in tl.static_range(TAGS):
        score = tl.load(scores + tag * stride, mask=here, other=0.0)
        found = found + (score.to(tl.float32),)
    return found


@triton.jit
def _ends(STATES: tl.constexpr, FINAL: tl.constexpr, BLOCK: tl.constexpr):
    """The values after the last word, state by state."""
    found = ()
    for state in tl.static_range(STATES):
        if FINAL[state] == 1:
            found = found + (tl.zeros([BLOCK], tl.float32),)
        else:
            found = found + (tl.full([BLOCK], float("-inf"), tl.float32),)
    return found


@triton.jit
def _fan(
    now, values, FROM: tl.constexpr, TO: tl.constexpr, TAG: tl.constexpr, TARGET: tl.constexpr
):
    """The values of the arcs FROM to TO."""
    found = ()
    for arc in tl.static_range(FROM, TO):
        found = found + (now[TAG[arc]] + values[TARGET[arc]],)
    return found


@triton.jit
def _highest(fan, SIZE: tl.constexpr):
    """The highest of a fan, 0 for -inf: what is taken off before exp."""
    highest = fan[0]
    for place in tl.static_range(1, SIZE):
        highest = tl.maximum(highest, fan[place])
    return tl.where(highest == float("-inf"), 0.0, highest)


@triton.jit
def _kept(given, new, old, SIZE: tl.constexpr):
    """The new values where the word has the mask, else the old ones."""
    found = ()
    for k in tl.static_range(SIZE):
        found = found + (tl.where(given, new[k], old[k]),)
    return found


@triton.jit
def _added(values, value, PLACE: tl.constexpr, SIZE: tl.constexpr):
    """The values, with one added to that at a place."""
    found = ()
    for k in tl.static_range(SIZE):
        found = found + (values[k] + value if k == PLACE else values[k],)
    return found


@triton.jit
def _zeros(SIZE: tl.constexpr, BLOCK: tl.constexpr):
    found = ()
    for _ in tl.static_range(SIZE):
        found = found + (tl.zeros([BLOCK], tl.float32),)
    return found


@triton.jit
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
    stride_row,
    stride_word,
    stride_tag,
    STATES: tl.constexpr,
    TAGS: tl.constexpr,
    START: tl.constexpr,
    FIRST: tl.constexpr,
    TAG: tl.constexpr,
    TARGET: tl.constexpr,
    FINAL: tl.constexpr,
    WIDTH: tl.constexpr,
    BITS: tl.constexpr,
    PER_CHUNK: tl.constexpr,
    CHUNKS: tl.constexpr,
    MASKED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = row < batch
    wide = tl.zeros([BLOCK], tl.int64) + batch  # offsets may go beyond 32 bits
    mine = scores + row * stride_row
    values = _ends(STATES, FINAL, BLOCK)
    now = _load(mine + (words - 1) * stride_word, stride_tag, here, TAGS)
    for step in range(words):
        word = words - 1 - step
        # The scores of the next word are on their way while this one is worked on.
        ahead = _load(mine + tl.maximum(word - 1, 0) * stride_word, stride_tag, here, TAGS)
        new = ()
        packed = tl.zeros([BLOCK], tl.int32)
        for state in tl.static_range(STATES):
            fan = _fan(now, values, FIRST[state], FIRST[state + 1], TAG, TARGET)
            highest = fan[0]
            place = tl.zeros([BLOCK], tl.int32)
            for k in tl.static_range(1, FIRST[state + 1] - FIRST[state]):
                better = fan[k] > highest  # of equal ones the first, the lower tag, stays
                highest = tl.where(better, fan[k], highest)
                place = tl.where(better, k, place)
            new = new + (highest,)
            packed |= place << (state % PER_CHUNK * BITS)
            if state % PER_CHUNK == PER_CHUNK - 1 or state == STATES - 1:
                chunk = word * CHUNKS + state // PER_CHUNK
                tl.store(pointers + chunk * wide + row, packed, mask=here)
                packed = tl.zeros([BLOCK], tl.int32)
        if MASKED:
            given = tl.load(mask + row * mask_row + word * mask_word, mask=here, other=0) != 0
            values = _kept(given, new, values, STATES)
        else:
            values = new
        now = ahead
    tl.store(best + row, values[START], mask=here)
    state = tl.full([BLOCK], START, tl.int32)
    for word in range(words):
        chunk = word * CHUNKS + state // PER_CHUNK
        packed = tl.load(pointers + chunk * wide + row, mask=here, other=0)
        place = (packed >> (state % PER_CHUNK * BITS)) & ((1 << BITS) - 1)
        tag = tl.load(fan_tag + place * STATES + state, mask=here, other=0)
        onward = tl.load(fan_target + place * STATES + state, mask=here, other=0)
        if MASKED:
            given = tl.load(mask + row * mask_row + word * mask_word, mask=here, other=0) != 0
            tag = tl.where(given, tag, -1)
            onward = tl.where(given, onward, state)
        tl.store(tags + word * wide + row, tag.to(tl.int64), mask=here)
        state = onward


@triton.jit
def sweep_kernel(
    scores,
    mask,
    mask_row,
    mask_word,
    after,
    total,
    batch,
    words,
    stride_row,
    stride_word,
    stride_tag,
    STATES: tl.constexpr,
    TAGS: tl.constexpr,
    START: tl.constexpr,
    FIRST: tl.constexpr,
    TAG: tl.constexpr,
    TARGET: tl.constexpr,
    FINAL: tl.constexpr,
    MASKED: tl.constexpr,
    KEEP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = row < batch
    wide = tl.zeros([BLOCK], tl.int64) + batch  # offsets may go beyond 32 bits
    mine = scores + row * stride_row
    values = _ends(STATES, FINAL, BLOCK)
    now = _load(mine + (words - 1) * stride_word, stride_tag, here, TAGS)
    for step in range(words):
        word = words - 1 - step
        ahead = _load(mine + tl.maximum(word - 1, 0) * stride_word, stride_tag, here, TAGS)
        if KEEP:
            for state in tl.static_range(STATES):
                place = (word * STATES + state) * wide + row
                tl.store(after + place, values[state], mask=here)
        new = ()
        for state in tl.static_range(STATES):
            fan = _fan(now, values, FIRST[state], FIRST[state + 1], TAG, TARGET)
            highest = _highest(fan, FIRST[state + 1] - FIRST[state])
            powers = tl.exp(fan[0] - highest)
            for k in tl.static_range(1, FIRST[state + 1] - FIRST[state]):
                powers += tl.exp(fan[k] - highest)
            new = new + (highest + tl.log(powers),)
        if MASKED:
            given = tl.load(mask + row * mask_row + word * mask_word, mask=here, other=0) != 0
            values = _kept(given, new, values, STATES)
        else:
            values = new
        now = ahead
    tl.store(total + row, values[START], mask=here)


@triton.jit
def flow_kernel(
    scores,
    mask,
    mask_row,
    mask_word,
    after,
    found,
    batch,
    words,
    stride_row,
    stride_word,
    stride_tag,
    STATES: tl.constexpr,
    TAGS: tl.constexpr,
    START: tl.constexpr,
    FIRST: tl.constexpr,
    TAG: tl.constexpr,
    TARGET: tl.constexpr,
    MASKED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Let the probabilities of states flow along arcs; see `algorithms.marginals`."""
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = row < batch
    wide = tl.zeros([BLOCK], tl.int64) + batch  # offsets may go beyond 32 bits
    mine = scores + row * stride_row
    pools = _added(_zeros(STATES, BLOCK), 1.0, START, STATES)
    now = _load(mine, stride_tag, here, TAGS)
    values = _load(after + row, wide, here, STATES)
    for word in range(words):
        next_word = tl.minimum(word + 1, words - 1)
        ahead = _load(mine + next_word * stride_word, stride_tag, here, TAGS)
        place = next_word * STATES * wide + row
        values_ahead = _load(after + place, wide, here, STATES)
        by_tag = _zeros(TAGS, BLOCK)
        new = _zeros(STATES, BLOCK)
        for state in tl.static_range(STATES):
            fan = _fan(now, values, FIRST[state], FIRST[state + 1], TAG, TARGET)
            highest = _highest(fan, FIRST[state + 1] - FIRST[state])
            powers = ()
            for k in tl.static_range(FIRST[state + 1] - FIRST[state]):
                powers = powers + (tl.exp(fan[k] - highest),)
            sum_of_powers = powers[0]
            for k in tl.static_range(1, FIRST[state + 1] - FIRST[state]):
                sum_of_powers += powers[k]
            share = tl.where(sum_of_powers > 0, pools[state] / sum_of_powers, 0.0)
            for k in tl.static_range(FIRST[state + 1] - FIRST[state]):
                flow = powers[k] * share
                by_tag = _added(by_tag, flow, TAG[FIRST[state] + k], TAGS)
                new = _added(new, flow, TARGET[FIRST[state] + k], STATES)
        if MASKED:
            given = tl.load(mask + row * mask_row + word * mask_word, mask=here, other=0) != 0
            by_tag = _kept(given, by_tag, _zeros(TAGS, BLOCK), TAGS)
            pools = _kept(given, new, pools, STATES)
        else:
            pools = new
        for tag in tl.static_range(TAGS):
            tl.store(found + (row * words + word) * TAGS + tag, by_tag[tag], mask=here)
        now = ahead
        values = values_ahead
