# ruff: noqa: SIM905
"""Made-up reports of events, and text like it that reports nothing, to train the bundled model on.

The same names occur in both, so that a model must read what is said about them. The frames around
the names are in `report_frames`. Brackets mark a mention, and these are filled in:

    <n> a name            <e> a name that takes an article    <l> several names
    <w> words that share a head or tail, from `made_up_posts`   <a> an adjective, such as "dizzy"
    <o> an organ and what it did                <v> what I did or could not do
    <k> what it did to me                       <b> an organ    <g> a good thing it did
    <d> a drug            <t> a time            <r> a relative

To see some reports, run `python benchmarks/made_up_reports.py`.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conditions import ABBREVIATIONS, Conditions, all_conditions, own_conditions
from discotag import Document
from discotag.lexicon import Lexicon
from discotag.marks import Marked
from discotag.words import Splitter
from made_up_posts import (
    both,
    drug,
    feelings_before,
    mention_in_gap,
    one_alone,
    parts_after,
    parts_before,
    read,
    shared_beginning,
    shared_end,
)

TOKEN = re.compile(r"\[(.+?)\]|<(\w)>")
INNER = re.compile(r"<(\w)>")

OWN_SHARE = 0.6
"""The share of names from our own lists, which are the more frequent ones."""
ABBREVIATED = 0.1
"""The share of names that are abbreviations."""
PAIR_SHARE = 0.5
"""The share of reports that are followed by text without mentions that has the same names."""
JOINED_SHARE = 0.15
"""The share of reports that consist of two frames."""
LOWER, UPPER, NO_STOP, MISSPELT = 0.15, 0.02, 0.2, 0.08
"""The shares of text in lower case, in capitals, without a final period, and with a spelling
mistake."""
JOINTS = ("; ", ". ", ", ", " - ", ", but ", " and ", ". Also ", ", so ", " / ")
"""What joins two frames."""

TIMES = (
    "two weeks|a month|10 days|the third dose|six months|the first injection|one pill|"
    "a few hours|the second round|a year|3 tablets|the loading dose|my last refill|"
    "the dose increase|a week|five days|the first infusion|only two doses|a couple of weeks|"
    "half a tablet|eight hours"
).split("|")
RELATIVES = (
    "mother|father|sister|brother|grandmother|grandfather|aunt|uncle|cousin|husband|wife|"
    "neighbor|best friend|boss|mother-in-law|mom|dad|coworker"
).split("|")
ADJECTIVES = (
    "dizzy|nauseous|suicidal|confused|drowsy|exhausted|faint|shaky|feverish|paranoid|disoriented|"
    "lightheaded|weak|numb|itchy|bloated|jittery|anxious|depressed|hopeless|irritable|spaced out|"
    "drugged|wired|very sick|extremely tired|so weak|really dizzy|completely drained|wobbly|"
    "sick to my stomach|out of it|like a zombie|manic|delirious|breathless|short of breath|"
    "hungover"
).split("|")
ORGANS = (
    "liver|kidneys|heart|lungs|pancreas|thyroid|gallbladder|bladder|bowels|stomach|immune system|"
    "colon|right kidney|adrenal glands|nervous system|digestive system|left lung|pituitary gland"
).split("|")
FAILED = (
    "failed|gave out|stopped working|quit working|quit on me|packed up|was failing|was damaged|"
    "was destroyed|shut off|started failing|is shot|is wrecked|was ruined|went into failure|"
    "crashed|is badly damaged|broke down|was shutting down|is failing"
).split("|")
HAPPENED = (
    "throat swelled shut|throat swelled up|tongue swelled up|lips went blue|"
    "hair came out in clumps|hair thinned|skin blistered|skin turned yellow|eyes turned yellow|"
    "legs gave way|hands shook|heart raced|heart was pounding|heart skipped beats|"
    "blood pressure shot up|blood pressure bottomed out|blood sugar crashed|blood sugar shot up|"
    "vision went blurry|vision faded|hearing went|memory is gone|platelets dropped|"
    "white count crashed|liver enzymes tripled|kidney function dropped|muscles ached|"
    "joints swelled|gums bled|nose bled for hours|feet went numb|left side went numb|"
    "speech was slurred|face swelled up|body shook all over|mind went blank|teeth crumbled|"
    "bones ached|periods stopped|chest tightened|airway closed|tendon snapped|retina detached|"
    "weight ballooned|sodium dropped|stomach bled|muscles broke down|skin came off|"
    "nails turned black|jaw locked|head was spinning|potassium hit 7|oxygen dropped to 80|"
    "INR went up to 9|sodium was down to 112|blood count fell to 5|muscles shrank|eyesight went|"
    "vision never came back|legs are paralyzed|face drooped|bowel burst|hip crumbled|"
    "heart rhythm went haywire|baby was stillborn|lungs filled with fluid|brain swelled"
).split("|")
DID = (
    "wanted to die|wanted to kill myself|thought about ending my life|passed out|blacked out|"
    "fainted|stopped breathing|could hardly breathe|couldn't catch my breath|couldn't sleep|"
    "couldn't stay awake|couldn't think straight|couldn't walk|couldn't feel my legs|"
    "could barely move|can't remember anything|couldn't stop shaking|couldn't stop crying|"
    "couldn't concentrate|couldn't eat|couldn't keep anything down|couldn't urinate|lost my hair|"
    "lost my appetite|lost my hearing|lost my memory|lost 20 pounds|lost consciousness|"
    "lost control of my bladder|lost feeling in my hands|lost interest in everything|went deaf|"
    "went into shock|went into a coma|gained 15 pounds|"
    "gained a lot of weight|put on 2 stone|threw up all night|kept falling over|heard voices|"
    "saw things|turned into a zombie|felt like a zombie|felt nothing|felt like I was dying|"
    "almost died|nearly died|had no energy|had no sex drive|slept 16 hours a day|cried all day|"
    "shook like a leaf|broke out in hives|broke out in a rash|swelled up like a balloon|"
    "bled for weeks|coughed up blood|hurt all over|ached all over|became violent|"
    "became very aggressive|cut myself|took an overdose|dropped things all the time|"
    "walked into walls|had to run to the toilet|keeled over|went into labor at 24 weeks|"
    "lost the baby|lost my vision|lost the use of my arm|lost most of my teeth|lost a kidney|"
    "stopped making sense|stopped eating|turned yellow|turned blue|went limp|went psychotic|"
    "bled internally|bled into my brain|died|fell into a coma|tried to jump out of a window|"
    "planned to shoot myself|took all the pills at once|had to be resuscitated"
).split("|")
DID_TO_ME = tuple(
    f"{verb} my {thing}"
    for verb, things in (
        ("killed", "libido|sex drive|appetite|energy|mood|gut|motivation|love life"),
        ("ruined", "stomach|liver|sleep|memory|teeth|skin|eyesight|kidneys|joints|health"),
        ("wrecked", "sleep|gut|liver|nerves|digestion|hormones|tendons|short term memory"),
        ("messed up", "stomach|periods|cycle|sleep|head|blood sugar|vision|thyroid"),
        ("destroyed", "kidneys|liver|nerves|gut flora|hearing|immune system|tendons"),
        ("took away", "appetite|energy|emotions|sex drive|personality|sense of taste"),
        ("damaged", "nerves|heart|liver|kidneys|hearing|optic nerve"),
        ("raised", "blood pressure|blood sugar|liver enzymes|cholesterol|heart rate"),
        ("made", "hair fall out|heart race|hands shake|ears ring|ankles swell|gums bleed"),
        ("turned", "stomach|skin yellow|urine brown|mood black|brain to mush"),
    )
    for thing in things.split("|")
) + tuple(
    "made me suicidal|made me numb|made me sick|made me bleed|made me vomit|made me gain weight|"
    "made me dizzy|made me drool|made me forgetful|made me aggressive|made me pass out|"
    "knocked me out|wiped me out|left me paralyzed|left me blind|left me deaf|nearly killed me|"
    "almost killed me|put me in a coma|drove me crazy|dried me out|turned me into a zombie|"
    "gave me the runs|gave me the shakes|kept me awake for days".split("|")
)  # fmt: skip
OUTSIDE = re.compile(
    r"^(had (?:to )?|(?:made|left|gave) m[ey] |went into (?:a )?|turned (?:me )?into a |took an )?"
    r"(.+)"
)
"""Words at the beginning that are not part of a mention, as in PsyTAR; and the mention."""

GOOD = (
    "helped a lot|lowered my blood pressure|fixed my thyroid levels|gave me my life back|"
    "works well|cleared my skin|got rid of the infection|keeps my sugar in range|calmed me down|"
    "works great|did what it should|made me feel human again|did nothing for me|"
    "saved my marriage|is worth it"
).split("|")

FRAMES = Path(__file__).parent / "report_frames"
REPORTS, STATEMENTS, SILENT, MIXED = (
    (FRAMES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    for name in ("reports", "statements", "silent", "mixed")
)
"""Frames around what happened to the patient; around what an organ, the patient or the drug did;
around names that no drug caused, or that did not happen; and frames with both."""
KINDS = (REPORTS, STATEMENTS, SILENT, SILENT, MIXED)

SHARING: tuple[Callable[[random.Random, list[str]], str], ...] = (
    parts_after, feelings_before, both, parts_before, shared_beginning, shared_end, mention_in_gap,
    one_alone,
)  # fmt: skip


@dataclass(slots=True)
class Filling:
    """Draws what is filled in, and remembers it, so that another frame can have the same.

    Attributes:
        draw: The random numbers.
        conditions: The names.
        rare: Rare body parts.
    """

    draw: random.Random
    conditions: Conditions
    rare: list[str]
    drawn: dict[str, list[str]] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)

    def again(self) -> None:
        """Begin another frame with the same fillings."""
        self.used.clear()

    def next(self, kind: str) -> str:
        """Return the next filling of a kind, with its mentions marked as in `made_up_posts`."""
        drawn, number = self.drawn.setdefault(kind, []), self.used.get(kind, 0)
        self.used[kind] = number + 1
        while len(drawn) <= number:
            new = self._new(kind)
            if new not in drawn or kind not in "nev":
                drawn.append(new)
        return drawn[number]

    def _new(self, kind: str) -> str:
        choose = self.draw.choice
        if kind == "w":
            return choose(SHARING)(self.draw, self.rare)
        if kind == "l":
            return self._list()
        if kind == "d":
            return drug(self.draw)
        if kind == "o":
            return self._organ()
        if kind == "v":
            return OUTSIDE.sub(r"\1[c \2]", choose(DID))
        if kind == "k":
            return OUTSIDE.sub(r"\1[c \2]", choose(DID_TO_ME))
        plain = {
            "t": TIMES, "r": RELATIVES, "g": GOOD, "b": ORGANS, "a": ADJECTIVES,
        }  # fmt: skip
        if kind in plain:
            text = choose(plain[kind])
            return f"[c {text}]" if kind == "a" else text
        return f"[c {self._name(kind)}]"

    def _name(self, kind: str) -> str:
        conditions, own, choose = self.conditions, own_conditions(), self.draw.choice
        if kind == "e":
            return choose(conditions.events)
        if self.draw.random() < ABBREVIATED:
            return choose(ABBREVIATIONS)
        serious = self.draw.random() < 0.5
        if self.draw.random() < OWN_SHARE:
            return choose(own.serious if serious else own.symptoms)
        return choose(conditions.serious if serious else conditions.symptoms)

    def _list(self) -> str:
        names = [self._name("n") for _ in range(self.draw.choice((2, 2, 3, 3, 4, 5)))]
        marked = [f"[c {name}]" for name in dict.fromkeys(names)]
        if len(marked) == 1:
            return marked[0]
        link = self.draw.choice((" and ", " and ", " or ", ", ", " & ", ", and ", ", or ", "/"))
        return ", ".join(marked[:-1]) + link + marked[-1]

    def _organ(self) -> str:
        choose = self.draw.choice
        if self.draw.random() < 0.5:
            return f"[c {choose(HAPPENED)}]"
        verb = choose(FAILED)
        if self.draw.random() < 0.25:
            first, second = self.draw.sample(ORGANS, 2)
            verb = verb.replace("was ", "were ").replace("is ", "are ")
            return f"[x {first}] and [x {second}] [y {verb}]"
        organ = choose(ORGANS)
        if organ.endswith("s") and organ != "pancreas":
            verb = verb.replace("was ", "were ").replace("is ", "are ")
        return f"[c {organ} {verb}]"


def fill(frame: str, filling: Filling) -> tuple[str, list[Marked]]:
    """Return the text of a frame and its mentions.

    Example:
        >>> filling = Filling(random.Random(0), own_conditions(), [])
        >>> filling.drawn["n"] = ["[c hives]", "[c chills]"]
        >>> text, mentions = fill("No <n> but [<n>].", filling)
        >>> text, mentions[0].fragments
        ('No hives but chills.', ((13, 19),))
    """
    text, mentions, passed = "", list[Marked](), 0
    for match in TOKEN.finditer(frame):
        text += frame[passed : match.start()]
        passed = match.end()
        if match[2]:
            part, marked = read(filling.next(match[2]))[0], list[Marked]()
        elif INNER.fullmatch(match[1]):
            part, marked = read(filling.next(match[1][1]))
        else:
            inner = INNER.sub(lambda found: read(filling.next(found[1]))[0], match[1])
            part, marked = read(f"[c {inner}]")
        for mark in marked:
            moved = tuple((start + len(text), end + len(text)) for start, end in mark.fragments)
            mentions.append(Marked(mark.label, moved))
        text += part
    return text + frame[passed:], mentions


def styled(draw: random.Random, text: str) -> str:
    """Return a text with a capital at its start, or in lower case, in capitals or unfinished."""
    text = text[0].upper() + text[1:]
    kind = draw.random()
    if kind < LOWER:
        text = text.lower()
    elif kind < LOWER + UPPER:
        text = text.upper()
    if draw.random() < MISSPELT:
        text = misspelt(draw, text)
    return text.removesuffix(".") if draw.random() < NO_STOP else text


def misspelt(draw: random.Random, text: str) -> str:
    """Return a text with two neighbouring letters of a word exchanged, as in "hte".

    Example:
        >>> misspelt(random.Random(0), "I had hives.")
        'I had hivse.'
    """
    pairs = [match.start(1) for match in re.finditer(r"(?<=[^\W\d_])(?=([^\W\d_]{2}))", text)]
    if not pairs:
        return text
    place = draw.choice(pairs)
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def frames(draw: random.Random) -> Iterator[str]:
    """Yield one frame, or two for the same fillings: one with mentions and one without."""
    if draw.random() < JOINED_SHARE:
        first, second = (draw.choice(draw.choice(KINDS)) for _ in range(2))
        yield first.removesuffix(".") + draw.choice(JOINTS) + second
        return
    kind = draw.random()
    if kind < 0.4:
        reports = REPORTS if kind < 0.28 else STATEMENTS
        frame = draw.choice(reports)
        yield frame
        if draw.random() < PAIR_SHARE:
            kinds = set(INNER.findall(frame)) & set("newlao")
            similar = [each for each in SILENT if kinds & set(INNER.findall(each))]
            yield draw.choice(similar or SILENT)
    elif kind < 0.8:
        yield draw.choice(SILENT)
    else:
        yield draw.choice(MIXED)


def made_up_reports(
    number: int, seed: int = 0, conditions: Conditions | None = None
) -> Iterator[Document]:
    """Yield documents of one line each, always the same for the same seed and conditions.

    Args:
        number: The number of documents.
        seed: The seed of the random numbers.
        conditions: The names to use; by default, those that need no other package.
    """
    draw = random.Random(seed)
    conditions = conditions or own_conditions()
    rare = sorted(term for term in Lexicon.default().terms if term.isascii() and len(term) < 20)
    splitter = Splitter("whole")
    seen = set[str]()
    while len(seen) < number:
        filling = Filling(draw, conditions, rare)
        for frame in frames(draw):
            filling.again()
            text, marked = fill(frame, filling)
            text = styled(draw, text)
            if text not in seen and len(seen) < number:
                seen.add(text)
                yield splitter.document(text, marked, id=f"report.{len(seen)}")


def main() -> None:
    """Print made-up reports, or write them to a file."""
    parser = argparse.ArgumentParser(description="Print made-up reports, or write them.")
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--own", action="store_true", help="use no names of other packages")
    parser.add_argument("--out", help="a JSON-lines file; by default, reports are printed")
    arguments = parser.parse_args()
    conditions = own_conditions() if arguments.own else all_conditions()
    reports = made_up_reports(arguments.number, arguments.seed, conditions)
    if arguments.out:
        from discotag.corpora import write

        write(reports, arguments.out)
        return
    for report in reports:
        print(report.text, [mention.text for mention in report.mentions])


if __name__ == "__main__":
    main()
