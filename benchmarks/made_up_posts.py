# ruff: noqa: SIM905
"""Made-up lines of patient posts, to train the bundled model on in addition to PsyTAR.

Mentions that share words ("pain in arms and shoulders") are far more frequent in patient posts than
in PsyTAR. Each line is a frame around a pattern. In a pattern, `x` and `y` mark the slots of a
mention set (`z` a third one), `c` a continuous mention, and `g` one in the gap of a set. To see
some lines, run `python benchmarks/made_up_posts.py`.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from itertools import product

from discotag import Document, Mention
from discotag.lexicon import Lexicon
from discotag.marks import Marked
from discotag.words import Splitter

LABEL = "ADR"

BODY = (
    "arms|legs|shoulders|knees|hips|hip joints|hands|feet|toes|fingers|neck|back|lower back|calves|"
    "thighs|chest|stomach|head|jaw|ankles|wrists|elbows|joints|muscles|face|eyes|left arm|"
    "right shoulder|left leg|right hip|upper arms|lower legs|throat|tongue|lips|gums|teeth|scalp|"
    "ears|abdomen|ribs|heels|groin|forearms|thumbs|spine|left side|right foot|hipjoints|bowels|skin"
).split("|")
FEELINGS = (
    "pain|pains|aches|cramps|cramping|stiffness|numbness|tingling|weakness|soreness|swelling|burning|"
    "spasms|twitching|tightness|itching|rash|bruising|discomfort|throbbing|tenderness|heaviness|"
    "severe pain|constant pain|terrible aches|muscle cramps|sharp pains|burning feeling|joint pain|"
    "muscle weakness|pins and needles|extreme pain|dull ache|shooting pains|muscle spasms"
).split("|")
STATES = (
    "painful|sore|stiff|swollen|numb|tender|weak|achy|itchy|heavy|tight|tingly|puffy|inflamed|shaky|"
    "cold|burning|bruised"
).split("|")
WHOLE = (
    "nausea|dizziness|headaches|insomnia|fatigue|dry mouth|vomiting|constipation|anxiety|hair loss|"
    "weight gain|night sweats|blurred vision|depression|brain fog|diarrhea|chills|heartburn|"
    "memory loss|panic attacks|vertigo|bloating|palpitations|drowsiness|extreme tiredness|hives"
).split("|")
SHARED = {
    "loss of": "appetite|libido|memory|balance|concentration|sleep|strength|energy|interest",
    "decreased": "appetite|libido|sex drive|energy|motivation|concentration",
    "increased": "anxiety|appetite|heart rate|blood pressure|sweating|irritability",
    "difficulty": "sleeping|breathing|concentrating|walking|swallowing|urinating|focusing",
    "trouble": "sleeping|breathing|concentrating|walking|remembering things|falling asleep",
    "extreme": "fatigue|tiredness|sleepiness|anxiety|irritability|hunger|weakness",
    "severe": "headaches|nausea|depression|insomnia|constipation|stomach cramps|dizziness",
    "lack of": "energy|appetite|motivation|sleep|emotion|coordination",
    "elevated": "liver enzymes|blood sugar|blood pressure|heart rate",
    "problems with": "my memory|my sleep|balance|vision|digestion|concentration",
}
ENDED = {
    "loss": "hair|memory|weight|hearing|muscle|appetite",
    "dreams": "vivid|disturbing|strange|violent|weird",
    "vision": "blurred|double|blurry",
    "problems": "memory|sleep|stomach|sexual|balance|vision|digestive|breathing",
    "thoughts": "suicidal|racing|obsessive|dark",
    "swings": "mood|blood sugar",
    "attacks": "panic|anxiety",
    "gain": "weight|water weight",
}
FRAMES = (
    "{}.|I had {}.|After two weeks I had {}.|Started with {}, then it got worse.|Side effects: {}.|"
    "I now have {} and my doctor says it is not the drug.|Within days I noticed {}.|"
    "{}, none of which I had before this.|Been on it for 3 years, {} since the second month.|"
    "It lowered my cholesterol but gave me {}.|I stopped because of {}.|"
    "My doctor took me off after I complained of {}.|Experienced {} from day 1.|"
    "I am 52 and was fit, now I suffer from {}.|{} so bad I could not get up.|Also {}.|"
    "Woke up with {}.|I developed {} on 20mg.|{} started after about 6 months.|"
    "I have been getting {}, it is awful!|Terrible {}|No relief, just {} all day long."
).split("|")
CLAUSES = (
    "I was having in my|that I get in my|I have had for months in my|that started in both|"
    "I am feeling around the|I was experiencing in the|which I never had before, in my|"
    "came on suddenly in my|I was experiencing around the|he says is from age in my|"
    "I suffered in both|moved down into my|has now spread to my|that settled in my"
).split("|")
AFTER_CLAUSES = (
    "was unbearable|was incredible|is gone since I quit|kept me awake|is constant|never left|"
    "made it hard to walk|got worse every day|went away after I stopped|is the worst"
).split("|")
OPENINGS = "The|This|All the|The awful|The constant|Then the|I hated the|It was the".split("|")
FELT = ("felt", "feel")
LEXICON_SHARE = 0.1
"""The share of body parts that come from the lexicon rather than from the list above."""

MOST_PATTERNS = 5
"""The most parts of a line: three patterns and two links between them."""

MARK = re.compile(r"\[(\w) (.*?)\]")

LINKS = (", ", ", ", " and ", "; ", ", plus ", ", also ", " along with ", ", and then ", " - ")
"""What joins the patterns of a line."""

ALL_LINKS = (" and ", " and ", " and ", " or ", " & ", ", ", "/", ", and ", " as well as ")
SHARING_LINKS = (" and ", " and ", " and ", " or ", " & ", "/", " as well as ")
"""What joins the last component of a slot; without the comma, which often begins a new mention."""


class ListDraw(random.Random):
    """A generator for lines many of which are lists of mentions or name a drug."""


DRUG_FRAMES = (
    "DRUG - {}.|DRUG: {}.|Took DRUG for 3 years: {}.|DRUG gave me {}.|I was on DRUG and had {}.|"
    "DRUG 20mg, {}.|Started DRUG in May, {} by June.|DRUG {}|After DRUG I got {}.|"
    "My doctor put me on DRUG and DRUG, now I have {}.|Switched from DRUG to DRUG because of {}.|"
    "I blame DRUG for {}.|Could DRUG be the cause of {}?"
).split("|")
DRUGS = (
    "Zoloft|Prozac|Wellbutrin|Accutane|warfarin|metformin|lisinopril|amlodipine|prednisone|Humira|"
    "methotrexate|ibuprofen|naproxen|levothyroxine|gabapentin|Ambien|Xanax|tramadol|omeprazole|"
    "tamoxifen|aspirin|insulin|penicillin|Tylenol|Adderall|codeine|Lexapro|Cymbalta|Effexor|Paxil|"
    "Celexa|Abilify|Seroquel|Zyprexa|Risperdal|lithium|Depakote|Lamictal|Topamax|Keppra|Tegretol|"
    "Lyrica|Valium|Klonopin|Percocet|morphine|Lipitor|Crestor|simvastatin|Zocor|niacin|Plavix|"
    "Xarelto|Eliquis|heparin|digoxin|metoprolol|atenolol|propranolol|losartan|diltiazem|Lasix|"
    "hydrochlorothiazide|spironolactone|amiodarone|Cipro|Levaquin|Bactrim|amoxicillin|azithromycin|"
    "doxycycline|Keflex|vancomycin|Diflucan|Valtrex|Tamiflu|Flagyl|Macrobid|Singulair|albuterol|"
    "Advair|Benadryl|Zyrtec|Claritin|Sudafed|Nexium|Zantac|Reglan|Zofran|Imodium|Fosamax|Boniva|"
    "Arimidex|Femara|letrozole|Taxol|cisplatin|Keytruda|Avastin|Gleevec|Enbrel|Remicade|Plaquenil|"
    "azathioprine|colchicine|allopurinol|Celebrex|Vioxx|meloxicam|Imitrex|Botox|Mirena|Yaz|Depo-Provera|"
    "Chantix|Viagra|Propecia|Flomax|Ozempic|Januvia|Jardiance|Lantus|glipizide|Synthroid|Strattera|"
    "Ritalin|Provigil|trazodone|mirtazapine|melatonin|methadone|Suboxone|ketamine|Haldol|clozapine|"
    "Gardasil|the flu shot|the shingles vaccine"
).split("|")
SYLLABLES = "zo|ra|ven|lo|mi|tra|pex|di|cor|val|ne|sta|bu|xan|fli|to|ge|ry|qua|ter".split("|")
DRUG_SHARE = 0.4


def drug(draw: random.Random) -> str:
    """Return the name of a drug, or an invented one."""
    if draw.random() < 0.5:
        return draw.choice(DRUGS)
    name = "".join(draw.choices(SYLLABLES, k=draw.choice((2, 3))))
    name += draw.choice(("in", "ol", "ex", "il", "an", "one", "ide"))
    return draw.choice((name, name.capitalize(), name.capitalize()))


def make(draw: random.Random, rare: list[str], share: float) -> tuple[str, list[Marked]]:
    """Return a line and its mentions.

    After each pattern, another one follows with probability `share`.
    """
    patterns = PATTERNS + LISTS if isinstance(draw, ListDraw) else PATTERNS
    pattern = draw.choice(patterns)(draw, rare)
    if pattern.startswith("!"):
        return read(pattern.removeprefix("!"))
    parts = [pattern]
    while share and len(parts) < MOST_PATTERNS and draw.random() < share:
        more = draw.choice(patterns)(draw, rare)
        if not more.startswith("!"):
            parts += [draw.choice(LINKS), more]
    frame = draw.choice(FRAMES)
    if isinstance(draw, ListDraw) and draw.random() < DRUG_SHARE:
        frame = re.sub("DRUG", lambda _: drug(draw), draw.choice(DRUG_FRAMES))
    if frame.startswith("{}"):
        parts[0] = capitalised(parts[0])
    before, after = frame.split("{}")
    text, mentions = "", []
    for part in (before, *parts, after):
        more, marked = read(part)
        for mark in marked:
            moved = tuple((start + len(text), end + len(text)) for start, end in mark.fragments)
            mentions.append(Marked(mark.label, moved))
        text += more
    return text, mentions


def capitalised(pattern: str) -> str:
    """Return a pattern with its first letter capitalised."""
    start = 3 if pattern.startswith("[") else 0
    return pattern[:start] + pattern[start].upper() + pattern[start + 1 :]


def read(pattern: str) -> tuple[str, list[Marked]]:
    """Return the text of a pattern and the mentions that are marked in it."""
    text, passed = "", 0
    slots: dict[str, list[tuple[int, int]]] = {"x": [], "y": [], "z": [], "c": []}
    for match in MARK.finditer(pattern):
        text += pattern[passed : match.start()]
        start = len(text)
        text += match[2]
        slots["c" if match[1] == "g" else match[1]].append((start, len(text)))
        passed = match.end()
    text += pattern[passed:]
    filled = [slots[name] for name in "xyz" if slots[name]]
    mentions = [Marked(LABEL, tuple(sorted(each))) for each in product(*filled) if each]
    return text, mentions + [Marked(LABEL, (one,)) for one in slots["c"]]


def several(draw: random.Random, items: list[str], slot: str, most: int = 3) -> str:
    """Return a list of two or more different items."""
    number = min(draw.choice((2, 2, 2, 3, most)), len(items))
    chosen = [f"[{slot} {item}]" for item in draw.sample(items, number)]
    link = draw.choice(SHARING_LINKS if isinstance(draw, ListDraw) else ALL_LINKS)
    return ", ".join(chosen[:-1]) + link + chosen[-1]


def body(draw: random.Random, rare: list[str]) -> list[str]:
    """Return the body parts to choose from."""
    return rare if draw.random() < LEXICON_SHARE else BODY


def where(draw: random.Random) -> str:
    """Return words that join a feeling to a body part."""
    return draw.choice(
        ("in my", "in my", "in", "in both", "in the", "of the", "around my", "down my")
    )


def parts_after(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "pain in arms and shoulders"."""
    feeling = draw.choice(FEELINGS)
    return f"[x {feeling} {where(draw)}] {several(draw, body(draw, rare), 'y')}"


def feelings_before(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "numbness and tingling in my toes"."""
    part = draw.choice(body(draw, rare))
    return f"{several(draw, FEELINGS, 'x')} [y {where(draw)} {part}]"


def both(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "swollen and stiff knees and elbows"."""
    return f"{several(draw, STATES, 'x', 2)} {several(draw, body(draw, rare), 'y', 2)}"


def parts_before(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "knee and hip pain"."""
    parts = [part.removesuffix("s") for part in body(draw, rare)]
    return f"{several(draw, parts, 'x')} [y {draw.choice(FEELINGS[:20])}]"


def parts_are(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "My knees and elbows are stiff."."""
    parts = several(draw, body(draw, rare), "x", 2)
    are = draw.choice(
        ("are", "were", "got", "became", "feel", "felt", "are always", "are so", "are very")
    )
    ending = draw.choice(
        (".", " all the time.", " every morning.", ", hard to walk.", " since week 2.")
    )
    return f"!My {parts} [y {are} {draw.choice(STATES)}]{ending}"


def part_is_several(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "My legs are weak and heavy."."""
    part = draw.choice(body(draw, rare))
    are = draw.choice(("are", "were", "felt", "feel", "became"))
    states = several(draw, STATES, "y", 2)
    # As in PsyTAR, "felt weak" is part of a mention; by our rules, "are" is not.
    return f"!My [x {part} {are}] {states}." if are in FELT else f"!My [x {part}] {are} {states}."


def clause_between(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "The pain I had around the hip joints was incredible."."""
    feeling, part = draw.choice(FEELINGS), draw.choice(body(draw, rare))
    clause, after = draw.choice(CLAUSES), draw.choice(AFTER_CLAUSES)
    return f"!{draw.choice(OPENINGS)} [x {feeling}] {clause} [y {part}] {after}{draw.choice('.!')}"


def clause_between_several(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "The pain I get in my knees and hips is constant."."""
    clause, after = draw.choice(CLAUSES), draw.choice(AFTER_CLAUSES)
    parts = several(draw, body(draw, rare), "y", 2)
    return f"!{draw.choice(OPENINGS)} [x {draw.choice(FEELINGS)}] {clause} {parts} {after}."


def shared_beginning(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "loss of appetite and libido"."""
    beginning = draw.choice(list(SHARED))
    return f"[x {beginning}] {several(draw, SHARED[beginning].split('|'), 'y')}"


def shared_end(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "memory and hair loss"."""
    end = draw.choice(list(ENDED))
    return f"{several(draw, ENDED[end].split('|'), 'x', 2)} [y {end}]"


def mention_in_gap(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "cramps, with nausea, in my calves"."""
    link = draw.choice(
        (", with [g {}], ", " (and [g {}]) ", ", plus [g {}], ", " along with [g {}] ")
    )
    place = f"[y {where(draw)} {draw.choice(body(draw, rare))}]"
    return f"[x {draw.choice(FEELINGS)}]{link.format(draw.choice(WHOLE))}{place}"


def one_alone(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern with one mention, such as "pain in my knees"."""
    return f"[c {draw.choice(FEELINGS)} {where(draw)} {draw.choice(body(draw, rare))}]"


def nothing_shared(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern of mentions that share no words, such as "nausea and dizziness"."""
    place = f"[c {draw.choice(FEELINGS)} {where(draw)} {draw.choice(body(draw, rare))}]"
    others = several(draw, WHOLE, "c")
    return draw.choice((others, f"{others} and {place}", f"{place}, {others}"))


def whole_list(draw: random.Random, rare: list[str]) -> str:
    """Return a list of separate mentions, such as "muscle pain, memory problems, nausea"."""
    items = []
    for _ in range(draw.randint(3, 6)):
        kind = draw.randrange(5)
        if kind == 0:
            beginning = draw.choice(list(SHARED))
            items.append(f"{beginning} {draw.choice(SHARED[beginning].split('|'))}")
        elif kind == 1:
            end = draw.choice(list(ENDED))
            items.append(f"{draw.choice(ENDED[end].split('|'))} {end}")
        elif kind == 2:
            place = f"{where(draw)} {draw.choice(body(draw, rare))}"
            items.append(f"{draw.choice(FEELINGS)} {place}")
        else:
            items.append(draw.choice(WHOLE if kind == 3 else FEELINGS))
    last = draw.choice((", ", ", ", " and ", ", and "))
    marked = [f"[c {item}]" for item in items]
    return ", ".join(marked[:-1]) + last + marked[-1]


def no_mention(draw: random.Random, rare: list[str]) -> str:
    """Return a line that looks similar but has no mention."""
    first, second = draw.sample(BODY, 2)
    return "!" + draw.choice((
        f"My doctor looked at my {first} and {second} and found nothing.",
        f"I take it in the morning and my {first} and {second} are fine now.",
        f"I was prescribed this after an operation on my {first}.",
        "It worked for my cholesterol and blood pressure.",
        f"I exercise my {first} and {second} every day.",
        "I have no side effects at all, best drug ever.",
    ))  # fmt: skip


PATTERNS = (
    parts_after, parts_after, parts_after, feelings_before, feelings_before, both, parts_before,
    parts_are, part_is_several, clause_between, clause_between, clause_between_several,
    shared_beginning, shared_end, mention_in_gap, one_alone, nothing_shared, nothing_shared,
    no_mention,
)  # fmt: skip


LISTS = (whole_list,) * 8


def made_up_posts(
    number: int, seed: int = 0, share: float = 0.0, *, lists: bool = False
) -> Iterator[Document]:
    """Yield documents of one line each, always the same for the same seed.

    Args:
        number: The number of documents.
        seed: The seed of the random numbers.
        share: The probability that a pattern is followed by another one in the same line.
        lists: Whether many lines are lists of mentions or name a drug; commas alone then never
            join the components of a slot.
    """
    draw = (ListDraw if lists else random.Random)(seed)
    rare = sorted(term for term in Lexicon.default().terms if term.isascii() and len(term) < 20)
    splitter = Splitter("whole")
    seen = set[str]()
    while len(seen) < number:
        text, marked = make(draw, rare, share)
        if text not in seen:
            seen.add(text)
            yield splitter.document(text, marked, id=f"made-up.{len(seen)}")


def main() -> None:
    """Print made-up posts, or write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.0, help="probability of another pattern")
    parser.add_argument("--lists", action="store_true", help="with many lists of mentions")
    parser.add_argument("--out", help="a JSON-lines file; by default, posts are printed")
    arguments = parser.parse_args()
    posts = made_up_posts(arguments.number, arguments.seed, arguments.share, lists=arguments.lists)
    if arguments.out:
        from discotag.corpora import write

        write(posts, arguments.out)
        return
    for post in posts:
        print(post.text)
        for mention in post.mentions:
            print("   ", _marked(mention))


def _marked(mention: Mention) -> str:
    return f"{mention.text}{'  (discontinuous)' if mention.discontinuous else ''}"


if __name__ == "__main__":
    main()
