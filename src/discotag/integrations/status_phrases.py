"""Phrases around mentions, by which `discotag.integrations.status` decides.

They are patterns, of words in lower case as the default `Splitter` splits them, with a space
between any two. A line break separates alternatives, as `|` does, and the first that matches is
taken. Words in capitals stand for the patterns of `SHARED`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal

Status = Literal["present", "denied", "past", "possible", "other"]
"""Who has what is mentioned: `present`, the person the text is about; `denied`, nobody; `past`,
that person long ago or before the treatment; `possible`, perhaps nobody, as it is feared, asked or
warned of; `other`, another person."""

SHARED: Final = {
    "BEGAN": r"started|developed|noticed|experienced|woke|ended|caught|lost|went",
    "CANNOT": r"cannot|cant|ca ?n ' t|can not|could not|could ?n ' t|couldnt",
    "CAUSED": r"(?:to be )?(?:due|related|from|caused|secondary)",
    "DENY": r"den(?:y|ies|ied|ying)",
    "DRUG": r"(?:\w+ ){0,2}(?:drugs?|med\w*|pills?|treatment|therapy|shots?|vaccine|surgery|chemo)",
    "FELT": r"""
        (?:have|having|had|get|got|felt|experience|report|endorse|complain|suffer|notice|show)\w*
        (?:reveal|develop|cause)\w*|feel(?! (?:well|good|like))|see|find|an?|any|been|or
    """,
    "HADIT": r"had|got|suffered",
    "HAVE": r"have|has|had|got|get|gets|feel|felt|am|is|was",
    "HISTORY": r"(?:history|hx)(?: of| significant for)?",
    "KIN": r"""
        (?:(?:THEIR|late|older|younger|elder|little|best) ){0,4}RELATIVE
        (?:(?:my|his|her|their) )?(?:maternal|paternal) \w+
    """,
    "LEADTO": r"""
        cause|lead to|develop|get|have|be|turn into|become|experience|result in|mean|include|occur
    """,
    "LONGAGO": r"""
        as a (?:child|kid|teen|teenager)|in the past(?! (?:\w+ )?TIME)|previously|formerly
    """,
    "NOT": r"""
        (?<!can )(?<!could )not(?! :)|(?:do|did|does|has|have|had|is|was|are|were|wo|would) ?n ' t
        (?:do|did|does|has|have|had|is|was|are|were)nt
    """,
    "RELATIVE": r"""
        (?:mother|mom|mum|father|dad|parent|sister|brother|sibling|aunt|uncle|cousin|niece|nephew)s?
        grand(?:mother|father|ma|pa|parents)|husband|wife|spouse|boyfriend|girlfriend|friends?
        neighbou?r|co - worker|coworker|colleague|roommate|boss
    """,
    "SAYS": r"""
        says?|said|states?|stated|reports?|reported|notes?|noted|notice[sd]?|thinks?|thought|tells
        told|brought|drove|took me|found (?:me|her|him|pt)|describes
    """,
    "SUBJECT": r"i|he|she|they|we|(?:the )?(?:pt|patient)",
    "THEIR": r"my|our|his|her|their|the|a|pt ' s|patient ' s",
    "THINK": r"DENY|no (?:evidence|signs?)|NOT (?:think|believe|feel|say|recall|report)",
    "TIME": r"(?:hour|day|week|month|year)s?",
    "VERB": r"""
        stand|tolerate|take|handle|bear|cope|deal|ignore|explain|describe|expect|like|wish|recommend
        tell|mention|know|care|work|walk|sleep|eat|drive|move|breathe|function|concentrate|live
        understand|reali[sz]e|mind|help|touch|fix|relieve|improve|resolve|stop|go|deny|just|only
        resolving|improving|better|resolved|gone|helping|helped|to mention|without|uncommon|warned
        told|informed|aware|mentioned|expecting|prepared|(?:been )?able to
        feel (?:well|good|right|like)
    """,
}

BEFORE: Final[dict[Status, str]] = {
    "denied": r"""
        THINK(?: that| like)? SUBJECT (?:(?:ever|also|still|even|really|now) )?HAVE
        (?:no|without) (?:any )?(?:evidence|signs?|symptoms?|complaints?|history|hx|episodes?) of
        (?:NOT|never|without) (?:giv|gave|mak|made)\w* (?:me|us|him|her)(?: feel)?
        no (?:longer|more)|no(?! ,|$)|NOT|never|without|w / o|w o|DENY|neither|nor|none of|nil(?! ,)
        zero|CANNOT (?:see|find|detect|appreciate)|fail(?:s|ed)? to reveal|(?:ruled|rules) out
        lack of|(?:negatives?|neg)(?: for|(?! ,))|free (?:of|from)|absent(?! ,)|absence of
        unremarkable for|instead of
    """,
    "past": r"""
        before (?:start\w+|taking|going on)(?: \w+){1,3}(?: ,)? SUBJECT(?: \w+)? HADIT
        when SUBJECT was(?: \w+){1,3}(?: ,)? SUBJECT HADIT
        (?:LONGAGO|years ago|(?:back )?in (?:19|20)\d\d)(?: ,)? SUBJECT HADIT|LONGAGO|once had
        (?:(?:past|prior|previous|remote|medical|known|long|significant|a|w|with) ){0,4}HISTORY
        previous|prior(?! to)|h / o|s / p(?= \0)|pmhx?(?: of)?|used to (?:have|get|suffer from|be)
        childhood
        (?:before|prior to) (?:starting|taking|SUBJECT (?:started|began)|(?:the|this) DRUG)
    """,
    "possible": r"""
        if|unless|in case of|(?:watch|look)(?: out)? for|monitor(?:ed|ing)? for|risks? (?:of|for)
        (?:chances?|odds) of|(?:may|can|could|might) (?:also )?LEADTO(?! CAUSED)|possible|possibly
        potential|probable|suspected|suspect|suspicion (?:of|for)|suspicious for
        concern(?:ed|s)? (?:for|about)|rule out|r / o|r o|CANNOT (?:rule out|exclude)|to exclude|\?
        query|worr(?:y|ied|ying)(?: about| that)?|afraid(?: of| to| that)?|scared (?:of|to|that)
        fear(?:s|ed|ing)?(?: of)?|terrified of|nervous about|anxious about|whether|avoid
        (?:does|has|did|is|can|could) (?:any ?one|anybody)|(?:does|can) (?:it|this)
        warn(?:ed|s|ing)?(?: me| us| him| her| patients?)?(?: about| of)?|any ?one(?: else)?(?! :)
        side effects? (?:may|can)|(?:to|can|help(?:s|ed)?|helps to) prevent|prevention of
        prophylaxis(?: for| against)?|(?:call|return) (?:if|for)|report any|ddx|versus|vs
        (?<!why )(?:should|do|does|did|will|would) (?:you|it|SUBJECT) LEADTO|not sure if i have
        differential(?: diagnosis)?
    """,
    "other": r"""
        KIN(?! DENY| of (?:two|three|four|five|\d))(?: ' s| of mine)?(?:(?: ,)? who)?
        (?:family (?:history|hx)|fhx?)(?: of)?|(?:no one|nobody|runs) in (?:my|his|her|the) family
    """,
    "present": r"""
        reports?|reported|reporting|complain(?:s|ed|ing)? of|c / o|pos(?:itive)? for|not only
        present(?:s|ed)? with|endorses|admits(?: to)?|developed|develops|now|currently|today
        since (?:starting|taking|the|this|i|then|beginning)|after (?:starting|taking|the|this|my|i)
        no (?:change|improvement|relief|difference|help|cure|treatment)(?: in| of| from| with| for)?
        not sure(?: if| that| whether)?|no (?:doubt|wonder|idea|one|matter)|as if
        (?:NOT|CANNOT|never|no)(?: \w+){1,3} without|(?:NOT|never)(?: (?!FELT)\w+){1,5} ,
        (?:NOT|CANNOT|never|nobody|no one) VERB(?: away)?(?: me| us)?(?: with| for| about| of)?
        no (?:energy|appetite|sex drive|libido|motivation|interest|sleep|strength|feeling|taste)
        nothing (?:but|helps|helped|for)|DENY that (?:the|this|my|it)|previously (?:well|healthy)
        prior to (?:admission|arrival|presentation)|(?:worried|concerned) about (?:my|this)
        without (?:relief|improvement|warning|help|contrast)|because of|due to|secondary to|despite
        (?:by|per|to|told|tells|with|from|asked|called) KIN|KIN SAYS|thanks to
        (?:SUBJECT|and|also|still|then) (?:HAVE|BEGAN)|i|me|my|mine
        , (?:and (?:his|her|their|the)|just|only|merely)|stopped because of
        (?:gave|gives|makes|made) me|caused|causes|causing|still|continues? to have|noted|found
    """,
}
"""Phrases before mentions."""

AFTER: Final[dict[Status, str]] = {
    "denied": r"""
        (?:(?:is|was|were|are|has been|been) )?(?:denied|absent|ruled out|excluded)
        (?:- |(?:is|was|were|are) )?(?:negative|neg)|- ve|\( - \)|(?:[-–] )?free(?! (?:of|from))
        (?:(?:is|was|were|are|has|have) )?(?:not|never)(?: been)? (?:seen|present|noted|found)
        : (?:none|neg|negative|denied|denies|absent|nil|never|no(?! [\w\0]))
        \( (?:neg|negative|no|none|denied|absent) \)
        (?:is |are |considered |thought )?unlikely(?! CAUSED)|no(?= [,.;]|$)
        (?:did not|did ?n ' t|never) (?:occur|happen)|never (?:occurred|happened|came)
    """,
    "past": r"""
        (?:(?:a few|\w+) )?(?:years|yrs|decades) ago|in the past|previously|by history|in childhood
        as a (?:child|kid|teen|teenager|baby)
        before (?:i |she |he |we )?(?:start|took|taking|beg)\w*|before (?:the|this|my|any) DRUG
        before this(?! \w)|(?:back )?(?:in )?(?:19|20)\d\d
        when i was (?:young|younger|little|a kid|a child|pregnant)|in (?:high school|college)
    """,
    "possible": r"""
        \?|(?:is |are |was )?(?:possible|suspected|likely(?! CAUSED)|a risk|questionable|feared)
        (?:CANNOT be|(?:is |was |were |are )?not(?: been)?) (?:ruled out|excluded)
        (?:may|might|could|can) (?:occur|happen|develop|follow|be)
        (?:is|are) (?:a )?(?:possible|common|known|rare|listed)(?: side effects?)?
    """,
    "present": r"""
        (?:is |was |are |were )?(?:present|noted|seen|confirmed|worse|worsening)
        (?:- )?(?:positive|pos)(?! for)|\( \+ \)|\+|: (?:yes|present|positive|\+)|got worse|started
        began|appeared|developed|resolved|persists?|persisted|continues?|since|improved
    """,
}
"""Phrases after mentions."""

BORDERS: Final = r"""
    [.!;:?–—]|- - ?|but|however|although|though|except|yet|because|which|who|apart from|aside from
    other than|besides|so|then|therefore|instead|until|while|whereas
"""
"""Where clauses end."""

MENTION: Final = "\0"
"""Stands for each word of a mention."""

HEADING: Final = r"(?: :)?"
"""Matches the colon in "Denies: rash"."""


def _alternatives(phrases: str) -> str:
    """Return phrases as one pattern."""
    lines = "|".join(line.strip() for line in phrases.strip().splitlines())
    return "(?:" + re.sub(r"[A-Z]{3,}", lambda name: _alternatives(SHARED[name[0]]), lines) + ")"


@cache
def patterns() -> list[tuple[re.Pattern[str], Status | None, bool]]:
    """Return the patterns, each with its status, None for borders, and whether it is after."""
    given: list[tuple[str, Status | None, bool]] = [(BORDERS, None, False)]
    given += [(phrases, status, False) for status, phrases in BEFORE.items()]
    given += [(phrases, status, True) for status, phrases in AFTER.items()]
    found = []
    for phrases, status, after in given:
        colon = "" if after or status in (None, "present") else HEADING
        form = rf"(?<![^ ]){_alternatives(phrases)}{colon}(?![^ ])"
        found.append((re.compile(form), status, after))
    return found
