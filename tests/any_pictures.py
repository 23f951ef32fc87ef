"""Random sentences for drawings: shared components, gap mentions, nested ones, odd words."""

import random

from hypothesis import strategies as st

from discotag import Mention, Sentence

WORDS = (
    "a", "in", "pain", "hipjoints", "(", ".", "漢字", "頭が痛い", "👍🏽", "👨‍👩‍👧", "ألم", "כאב",
    "e\u0301", "\u0301", "\u200b", "<b>", "&amp;", '"', "\x1b[31m", "W" * 90, "naïve", "ﷺ",
    "\u202e", "ไทย",
)  # fmt: skip
LABELS = ("ADR", "Drug", "<script>", "症状", "ALongLabelThatIsWiderThanManyWords", "X")


def random_sentence(seed):
    """Return a sentence with up to 30 words and 12 mentions."""
    draw = random.Random(seed)
    length = draw.choice((0, 1, 2, 3, 5, 8, 13, 30))
    words = [draw.choice(WORDS) for _ in range(length)]
    mentions = []
    for _ in range(draw.randrange(13) if length else 0):
        kind = draw.random()
        if kind < 0.25 and mentions:  # shares a component with another mention
            taken = set(draw.choice(mentions).words)
            chosen = taken ^ {draw.randrange(length)} or taken
        elif kind < 0.5:  # continuous; often nested, or in a gap
            start = draw.randrange(length)
            chosen = range(start, draw.randint(start + 1, min(length, start + 5)))
        else:
            chosen = draw.sample(range(length), draw.randint(1, min(length, 6)))
        score = draw.choice((None, 0.0, 0.004, 0.5, 0.999, 1.0))
        runs = [(word, word + 1) for word in sorted(chosen)]
        mentions.append(Mention(draw.choice(LABELS), runs, score=score))
    if draw.random() < 0.5:
        return Sentence(words, mentions)
    text, offsets = "", []
    for word in words:
        offsets.append((len(text), len(text) + len(word)))
        text += word + draw.choice(("", " ", " ", "\n  "))
    return Sentence(words, mentions, text=text, offsets=offsets)


@st.composite
def sentences(draw):
    """Return sentences of any words, with any mentions."""
    words = draw(st.lists(st.text(min_size=1, max_size=12), max_size=12))
    if not words:
        return Sentence([])
    index = st.integers(0, len(words) - 1)
    mentions = [
        Mention(
            draw(st.sampled_from(LABELS)),
            [(word, word + 1) for word in sorted(draw(st.sets(index, min_size=1, max_size=5)))],
            score=draw(st.none() | st.floats(0, 1)),
        )
        for _ in range(draw(st.integers(0, 8)))
    ]
    return Sentence(words, mentions)
