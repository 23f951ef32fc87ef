"""The status of mentions: whether somebody has what is mentioned, or it is denied, past or feared.

Phrases decide, as in NegEx and ConText (Chapman et al. 2001, Harkema et al. 2009): a cue such as
"denies" holds for the mentions after it until its clause ends, or until another cue. Words of a
mention are never cues, so "no appetite" is present, and "can't sleep" does not deny the headache
that follows it. The phrases are for English.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal, NamedTuple

from discotag.mentions import Document, Sentence

Status = Literal["present", "denied", "past", "possible", "other"]
"""Who has what is mentioned: `present`, the person the text is about; `denied`, nobody; `past`,
that person long ago or before the treatment; `possible`, perhaps nobody, as it is feared, asked or
warned of; `other`, another person."""

BEFORE: Final[dict[Status, str]] = {
    "denied": """
                no(?! ,|$)|not|never|without|w / o|w o|denies|denied|denying|deny|negative for|
        neg for|neg|free of|free from|absence of|lack of|(?:no|without) (?:any )?(?:evidence|
        signs?|symptoms?|complaints?|history|hx|episodes?) of|no longer|no more|none of|neither|
        nor|zero|never had|never got|fails to reveal|failed to reveal|(?:do|did|does|has|have|had|
        is|was|are|were|wo|would)n ' t|(?:do|did|does|has|have|had|is|was|are|were)nt|can not see|
        ruled out|rules out|instead of|nil|unremarkable for
    """,
    "past": """
                before (?:start\\w+|taking|going on)(?: \\w+){1,3} (?:i|he|she|
        we) (?:\\w+ )?(?:had|got|suffered)|when (?:i|he|she) was (?:\\w+ ){1,3}(?:i|he|
        she) (?:had|got|suffered)|(?:(?:past|prior|previous|remote|medical|known|long|significant|
        a|w|with) )*(?:history|hx)(?: of| :| significant for)?|h / o|s / p|pmhx?(?: :| of)?|
        previous|previously|prior|used to (?:have|get|suffer from|be)|in the past|years ago|
        as a (?:child|kid|teen|teenager)|before (?:i |she |he |we )?(?:started|starting|taking|
        began|the|this)|back in (?:19|20)\\d\\d|in (?:19|20)\\d\\d|childhood|formerly|once had
    """,
    "possible": """
                if|unless|in case of|watch(?: out)? for|look out for|monitor(?:ed|ing)? for|
        risks? (?:of|for)|(?:chances?|odds) of|(?:may|can|could|might) (?:also )?(?:cause|lead to|
        develop|get|have|be|turn into|become|experience|result in|mean|include|occur)|possible|
        possibly|potential|probable|suspected|suspect|suspicion (?:of|for)|suspicious for|
        concern(?:ed|s)? (?:for|about)|rule out|r / o|r o|cannot (?:rule out|exclude)|
        can ' t rule out|can not rule out|to exclude|\\?|query|worr(?:y|ied|ying)(?: about|
         that)?|afraid (?:of|to)|scared (?:of|to)|fear(?:s|ed|ing)?(?: of)?|terrified of|
        nervous about|anxious about|(?:does|has|did|is|can|could) (?:any ?one|anybody)|(?:does|
        can) (?:it|this)|any ?one(?: else)?|warn(?:ed|s|ing)?(?: me| us| him| her|
         patients?)?(?: about| of)?|side effects? (?:include|like|such as|are|may|can|of)|(?:to|
        can|help(?:s|ed)?|helps to) prevent|prevention of|prophylaxis (?:for|against)?|call (?:if|
        for)|return (?:if|for)|report any|(?:should|do|will|would) (?:you|i|he|she|it) (?:get|
        have|develop|experience|cause)|not sure if i have|whether|avoid|ddx|
        differential(?: diagnosis)?|versus|vs
    """,
    "other": """
                (?:(?:my|his|her|their|the|our|a|pt ' s|patient ' s) )*(?:late |older |younger |
        elder |little |best )*(?:mother|mom|mum|father|dad|sister|brother|sibling|aunt|uncle|
        cousin|grand(?:mother|father|ma|pa|parents)|parents?|friend|neighbou?r|co - ?worker|
        colleague|roommate|boss|niece|nephew|maternal \\w+|paternal \\w+)(?: ' s| of mine)?|
        family history(?: of| :)?|family hx(?: of| :)?|fhx?(?: of| :)?|sister ' s|runs in (?:my|
        the) family
    """,
    "present": """
                reports?|reported|reporting|complains? of|complaining of|complained of|c / o|
        positive for|pos for|presents? with|presented with|endorses|admits(?: to)?|developed|
        develops|now|currently|today|since (?:starting|taking|the|this|i|then|beginning)|
        after (?:starting|taking|the|this|my|i)|not only|no (?:change|improvement|relief|
        difference)(?: in| of| from| with)?|not sure(?: if| that| whether)?|no doubt|no wonder|
        not to mention|no idea|not (?:resolving|improving|better|resolved|gone|helping|helped)|
        (?:did|does|do|is|was)n ' t (?:help|touch|fix|relieve|improve|resolve|stop|
        go)(?: away)?(?: with| for)?|not just|nothing (?:but|helps|helped|for)|without (?:relief|
        improvement|warning|help)|(?:by|per|to|told|tells) (?:my |his |her |their )?(?:mother|mom|
        mum|father|dad|parents?|sister|friend)|without contrast|cannot stand|ca ?n ' t stand|
        because of|due to|secondary to|thanks to|despite|(?:i|we|he|she|pt|patient|and|also|still|
        then) (?:have|has|had|got|get|gets|feel|felt|am|is|was|started|developed|noticed|
        experienced|woke|ended)|i ' m|i ' ve|i|me|my|stopped because of|gave me|gives me|makes me|
        made me|caused|causes|causing|still|continues? to have|noted|found
    """,
}
"""Phrases before mentions, as patterns of lower-case words with a space between any two words."""

AFTER: Final[dict[Status, str]] = {
    "denied": """
                (?:(?:is|was|were|are|has been|been) )?(?:denied|absent|ruled out|excluded|
        negative|neg|not (?:seen|present|noted|found|reported|observed))|: (?:no|none|neg|
        negative|denied|denies|absent|nil|never)|\\( - \\)|\\( (?:neg|negative|no|none|denied|
        absent) \\)|- ve|(?:is |are |considered |thought )?unlikely|free|no(?= ,|$)|
        did not (?:occur|happen)|didn ' t (?:occur|happen)|never (?:occurred|happened|came)
    """,
    "past": """
                (?:(?:\\d+|\\w+|a few|several|many) )?(?:years|yrs|decades) ago|in the past|
        as a (?:child|kid|teen|teenager|baby)|before (?:i |she |he |we )?(?:starting|started|
        taking|took|began|beginning|the|this|my|any)|in childhood|when i was (?:young|younger|
        little|a kid|a child|pregnant)|(?:back )?(?:in )?(?:19|20)\\d\\d|in (?:high school|
        college)|previously|by history
    """,
    "possible": """
                \\?|(?:is |are |was )?(?:possible|suspected|likely|a risk|questionable|feared)|
        can ?not be (?:ruled out|excluded)|can ' t be (?:ruled out|excluded)|(?:may|might|could|
        can) (?:occur|happen|develop|follow|be)|(?:is|are) (?:a )?(?:possible|common|known|rare|
        listed)(?: side effects?)?
    """,
    "other": "",
    "present": """
                (?:is |was |are |were )?(?:present|noted|seen|confirmed|worse|worsening)|
        \\( \\+ \\)|\\+|: (?:yes|present|positive|\\+)|(?:started|began|appeared|developed|
        resolved|persists?|persisted|continues?|since|improved|got worse)
    """,
}
"""Phrases after mentions."""

BORDERS: Final = r"""
    [.!;:\n]|\?|but|however|although|though|except|yet|because|which|who|apart from|aside from|
    other than|besides|so|then|therefore|instead|until|while|whereas|- - ?|–|—
"""
"""Where clauses end."""

MENTION: Final = "\0"
"""Stands for each word of a mention."""

LISTED: Final = re.compile(
    r"(?: ?(?:,|/|and|or|nor|&|\0|the|any|of|in|on|a|mild|severe|new|acute)(?= |$))* ?"
)
"""Matches what stands between mentions of a list."""


class Cue(NamedTuple):
    """A phrase in a sentence.

    Attributes:
        start: The place of its first character.
        end: The place after its last character.
        status: The status of the mentions that it holds for; None where a clause ends.
        after: Whether it holds for mentions before it.
    """

    start: int
    end: int
    status: Status | None
    after: bool = False


FILLERS: Final = frozenset(
    {"", "a", "also", "any", "as", "even", "ever", "just", "of", "really", "the"}
)
"""What may stand between two phrases that belong together, as in "denies any history of"."""

RANK: Final[tuple[Status, ...]] = ("other", "denied", "possible", "past", "present")
"""Which of the phrases that belong together decides."""


def statuses(document: Document) -> list[Status]:
    """Return the status of each mention of a document, in the order of `document.mentions`.

    Example:
        >>> from discotag import load
        >>> document = load()("She denies rash on her legs, but has terrible headaches.")
        >>> list(zip([mention.text for mention in document.mentions], statuses(document)))
        [('terrible headaches', 'present')]
    """
    return [status for sentence in document.sentences for status in _statuses(sentence)]


def _statuses(sentence: Sentence) -> list[Status]:
    if not sentence.mentions:
        return []
    text, starts, ends = _plain(sentence)
    cues = _cues(text)
    places = [
        (starts[each.start], ends[each.end - 1], starts[each.fragments[-1][0]])
        for each in sentence.mentions
    ]
    return [_status(place, text, cues) for place in places]


def _status(place: tuple[int, int, int], text: str, cues: list[Cue]) -> Status:
    """Return the status of a mention.

    Args:
        place: Where it begins and ends, and where its last fragment begins.
        text: The text, as of `_plain`.
        cues: The phrases of the text.
    """
    start, end, last = place
    before = _before(text, start, last, cues)
    after, listed = _after(text, end, cues)
    if after is None:
        return before.status if before and before.status else "present"
    if before is None or before.status in (None, "present"):
        return after
    own = MENTION not in text[before.end : start]
    return (before.status or after) if own or (listed and after == "present") else after


def _before(text: str, start: int, last: int, cues: list[Cue]) -> Cue | None:
    """Return the phrase before a mention, or in its gaps, that holds for it."""
    scope: list[Cue] = []
    for cue in cues:
        in_gap = cue.end > start
        if cue.after or cue.end > last or (in_gap and cue.status == "present"):
            if cue.after and cue.status and cue.start < start and _ends_scope(cue, text, start):
                scope = []
            continue
        if cue.status is None:
            scope = []
        elif scope and text[scope[-1].end : cue.start].strip() in FILLERS:
            scope.append(cue)
        else:
            scope = [cue]
    if scope and scope[-1].status == "denied" and _is_own(scope[-1], text, start, cues):
        return None
    return min(scope, key=lambda cue: RANK.index(cue.status or "present"), default=None)


def _is_own(cue: Cue, text: str, start: int, cues: list[Cue]) -> bool:
    """Return whether a phrase is for one mention alone, as in "no rash, no fever, mild cough"."""
    word = text[cue.start : cue.end]
    repeated = any(text[each.start : each.end] == word for each in cues if each.end < cue.start)
    ended = re.search(f"{MENTION} ,[^{MENTION}]*$", text[cue.end : start])
    return repeated and ended is not None


def _ends_scope(cue: Cue, text: str, start: int) -> bool:
    """Return whether a phrase stands right after another mention, whose own it is."""
    return text[: cue.start].rstrip().endswith(MENTION) and cue.end <= start


def _after(text: str, end: int, cues: list[Cue]) -> tuple[Status | None, bool]:
    """Return the status by a phrase after a mention, and whether other mentions are between."""
    for cue in cues:
        if cue.after and cue.start >= end:
            between = text[end : cue.start]
            if not between.strip():
                return cue.status, False
            if MENTION in between and LISTED.fullmatch(between):
                return cue.status, True
            break
    return None, False


def _plain(sentence: Sentence) -> tuple[str, list[int], list[int]]:
    """Return the words in lower case, with a sign for each word of a mention, and their places."""
    inside = {word for mention in sentence.mentions for word in mention.words}
    words = [
        MENTION if number in inside else word.lower().replace("’", "'")
        for number, word in enumerate(sentence.words)
    ]
    starts, ends, place = [], [], 0
    for word in words:
        starts.append(place)
        ends.append(place + len(word))
        place = ends[-1] + 1
    return " ".join(words), starts, ends


@cache
def _patterns() -> list[tuple[re.Pattern[str], Status | None, bool]]:
    given: list[tuple[str, Status | None, bool]] = [(BORDERS, None, False)]
    given += [(phrases, status, False) for status, phrases in BEFORE.items()]
    given += [(phrases, status, True) for status, phrases in AFTER.items() if phrases]
    found = []
    for phrases, status, after in given:
        form = re.sub(r"\n\s*", "", phrases)
        found.append((re.compile(rf"(?<![^ ])(?:{form})(?![^ ])"), status, after))
    return found


def _cues(text: str) -> list[Cue]:
    """Return the phrases of a sentence in order, without those that are parts of longer ones."""
    found = [
        Cue(match.start(), match.end(), status, after)
        for pattern, status, after in _patterns()
        for match in pattern.finditer(text)
    ]
    found.sort(key=lambda cue: (cue.start, -cue.end))
    kept: list[Cue] = []
    for cue in found:
        if not any(
            other.start <= cue.start
            and cue.end <= other.end
            and (other.end - other.start > cue.end - cue.start)
            and other.after == cue.after
            for other in found
        ):
            kept.append(cue)
    return kept
