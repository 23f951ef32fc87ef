# ruff: noqa: SIM905
"""Made-up clinical notes in abbreviations, to train the bundled model on.

The same abbreviations name what a drug did ("AKI on vanc"), what it is for ("apixaban for AF"),
what there was before ("h/o DVT") and what there is not ("no SOB or CP"), so that a model must read
what is said about them. To see some notes, run `python benchmarks/made_up_notes.py`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

from conditions import ABBREVIATIONS, own_conditions
from discotag import Document
from discotag.marks import Marked
from discotag.words import Splitter
from made_up_posts import drug, read

RARER = (
    "ALF|ACLF|AIH|AIN|ATN|FSGS|RTA|ESRD|HRS|SBP|SBO|PUD|LGIB|CDAD|UC flare|NEC|VOD|TMA|aHUS|HLH|"
    "PRCA|AIHA|MAS|NSVT|TdP|CHB|AVB|PAH|PTX|PNA|aspiration PNA|COPD exacerbation|bronchospasm|"
    "CMV|VZV|HSV|VVC|BV|PID|DUB|AUB|OHSS|SAB|IUFD|PPH|IVH|RDS|adrenal insuff|DI|DILE|MG flare|"
    "CIDP|TM|NAION|CRAO|IOP rise|SNHL|BPPV|TMJ pain|MRONJ|LBP|CTS|SIB|HI|TGA|lactic acidosis|"
    "MALA|euDKA|hypoglycemia|hypoCa|hyperCa|hypoPhos|hyperNa|AGMA|PND|LEE|EF drop|HTN urgency|"
    "HTN crisis|hypoTN|orthostasis|presyncope|sz|szs|GTC sz|status|akathisia|dystonia|SS|tardive|"
    "sedation|resp arrest|PEA arrest|cardiac arrest|syncope|near syncope|URI sx|flu-like sx|"
    "GI upset|GI sx|abd distention|constip|diarr|dec appetite|dec UOP|urinary retention|UR|"
    "hematuria|BRBPR|melena|epistaxis|petechiae|mucositis gr 3|neuropathy gr 2|rash gr 2|"
    "infusion rxn|inj site rxn|allergic rxn|anaph|angioedema|FDE|LABD|PG|Sweet syndrome|EN|"
    "dec vision|blurry vision|diplopia|wt gain 20 lb|hair loss|dysgeusia|xerostomia|ED|"
    "dec libido|amenorrhea|galactorrhea|gynecomastia|HFS gr 2|alopecia|nail changes|"
    "transaminitis|inc LFTs|inc Cr|Cr bump|ALT 5x ULN|leukopenia|low plt|low Hgb|pancytopenia|"
    "ANC drop"
).split("|")
"""More of them, besides those of `conditions`."""

MEASURED = (
    "K 6.{}|Na 11{}|plt {}k|WBC 0.{}|Hgb {}|INR {}|QTc 5{}0|SBP 7{}|HR 3{}|BP 8{}/40|BP 21{}/110|"
    "T 10{}|temp 39.{}|sats 8{}%|Cr 4.{}|glucose 4{}0|BG 3{}|ANC {}|ALT {}80|CK {}2,000|Mg 0.{}"
).split("|")
"""Values that are a reaction themselves; `{}` is a digit."""

REACTED = (
    "[a]|[a] on DRUG|[a] after DRUG|[a], DRUG day 3|DRUG: [a]|DRUG - [a]|DRUG ([a])|[a] 2/2 DRUG|"
    "[a] d/t DRUG|[a] 2/2 DRUG, now off|c/o [a]|c/o [a], [a] since DRUG|Developed [a].|"
    "dev [a] & [a]|pt w/ [a] on DRUG|Pt developed [a] after 2 doses of DRUG.|+[a], -<a>|"
    "[a] x 3 d on DRUG|[a] x2|DRUG d/c'd 2/2 [a]|DRUG held for [a]|stopped DRUG b/c of [a]|"
    "DRUG stopped ([a]).|ended up with [a] and [a] on DRUG|[a] from DRUG, never again|"
    "DRUG gave me [a]|got [a] on day 2|admitted w/ [a] on DRUG|to ED w/ [a], [a]|[a]/[a] on DRUG|"
    "[a], [a] and [a] w/ DRUG|[a] + [a]|No <a>. [a] present.|denies <a>, does have [a]|"
    "h/o <a>, now [a] on DRUG|DRUG for <a>, now [a]|DRUG for <a> -> [a]|ADR: [a] (DRUG)|"
    "AE: [a], gr 3, related|SAE: [a], recovered|Rxn: [a]|Allergies: DRUG ([a]), DRUG ([a])|"
    "Allergy: DRUG - [a]; DRUG - [a]|DRUG allergy: [a]|post DRUG [a], given fluids|"
    "new [a] since DRUG started|[a] resolved off DRUG|[a] again w/ DRUG|likely DRUG-induced [a]|"
    "[a], suspect DRUG|concern for [a] from DRUG, confirmed on labs|"
    "A/P: [a] from DRUG. Stop, follow labs.|62M on DRUG p/w [a].|45F s/p DRUG c/b [a]|"
    "hosp course c/b [a] and [a]|labs: [m]|[m] on DRUG|[m] after DRUG, held|[a] ([m]) on DRUG|"
    "[N]/[V] x 2 days|[N]/[V]/[D] on DRUG|[N] & [V] w/ DRUG|severe [N]/[V], DRUG stopped|"
    "[a] & [N]/[V]"
).split("|")
"""Notes of reactions: `[a]` is one, `<a>` an abbreviation that is none, `[m]` a measured value."""

SILENT = (
    "no <a>|No <a>, <a> or <a>.|denies <a>|Denies <a>/<a>.|neg for <a>, <a>|<a> -|<a> neg|"
    "<a> (-), <a> (-)|r/o <a>|r/o <a> prior to DRUG|DRUG for <a>|on DRUG for <a>|"
    "started DRUG for <a>|DRUG for <a> ppx|h/o <a>|PMH: <a>, <a>, <a>|PMHx <a> on DRUG|"
    "FHx of <a>|mother w/ <a>, on DRUG|<a> s/p DRUG, resolved|<a> 2012, on DRUG since|"
    "Dx: <a>. Tx: DRUG.|<a> -> DRUG started|<a> tx w/ DRUG|DRUG PRN <a>|monitor for <a>|"
    "watch for <a> on DRUG|risk of <a> d/w pt|counseled re <a>|call if <a> or <a>|"
    "DRUG: no <a> so far|tolerating DRUG, no <a>|w/o <a>|no evidence of <a>|no s/s of <a>|"
    "CT neg for <a>|admitted for <a>, DRUG started|<a> improved on DRUG|<a> better w/ DRUG|"
    "screen for <a> before DRUG|NKDA|NKA|Meds: DRUG, DRUG|can DRUG cause <a>?|consult re <a>|"
    "sister had <a> on DRUG|<a> since childhood|chronic <a>, stable on DRUG|N/V -|no N/V/D"
).split("|")

SILENT_SHARE = 0.38

FINDINGS_SHARE = 0.22
"""The share of notes that are lists of findings, each present or absent."""

OTHERS_SHARE = 0.12
"""The share of notes about other people and about the patient."""

SIGNS = (
    (" (+)", " (-)"), (" +", " -"), ("+", "-"), (": yes", ": no"), (" yes", " no"), (" y", " n"),
    (": present", ": absent"), (" pos", " neg"), (": pos", ": neg"), (" (yes)", " (no)"),
    (" (present)", " (absent)"), (": moderate", ": none"), (" (mild)", " (none)"), (": 2", ": 0"),
    (" 1", " 0"), (" G2", " G0"), (" gr 1", " gr 0"), ("? yes", "? no"), (" [x]", " [ ]"),
    (": positive", ": negative"), (" ++", " 0"), (": severe", ": nil"), (" noted", " not noted"),
)  # fmt: skip
"""What is behind a finding that is present, and behind one that is not."""

SIGNS_BEFORE = (("+", "-"), ("(+) ", "(-) "), ("has ", "no "), ("+ ", "- "), ("yes: ", "no: "))
"""The same, before it."""

HEADINGS = (
    "|||DRUG day 3: |Since DRUG: |ROS on DRUG: |On DRUG, |Review of systems: |Toxicity, cycle 2: |"
    "Checklist after DRUG: |Day 9, DRUG: |Exam on DRUG: |Post vaccine: |Side effects of DRUG: "
).split("|")
ENDINGS = "||||| on DRUG| after DRUG| (DRUG)| since DRUG was added|, DRUG day 6".split("|")

OTHERS = (
    "My WHO had <a> on it, I only got [a].|My WHO had <a>, I had [a].|I had [a], my WHO had none.|"
    "I had [a], my WHO had <a>.|[a] after DRUG, WHO had <a>|My WHO takes it for <a>. I got [a].|"
    "my WHO was fine on it, i got [a] and [a]|Everyone warned me of <a>, what I got was [a].|"
    "Never had <a>, but [a] since DRUG.|no <a> this time, [a] instead|Not <a> but [a].|"
    "No <a> at all. [a] though.|<a> is gone since DRUG, now I have [a]|No more <a>, just [a].|"
    "My WHO got <a> from DRUG, mine was [a].|The leaflet says <a>; I have [a].|"
    "Neither <a> nor <a>.|My WHO had <a> on it, I am fine.|<a>? No. [a]? Yes, since DRUG.|"
    "My WHO and I both take DRUG; WHO has <a>, I have [a].|Denies <a>, <a>. Reports [a].|"
    "Also mentioned [a] and [a].|"
    "They said DRUG may cause <a>, well, I have [a]|DRUG: [a]. Before that, <a>.|"
    "I had <a> long before DRUG, the [a] is new.|DRUG helped my <a> and gave me [a]."
).split("|")
WHO = (
    "sister|brother|mother|father|mom|dad|wife|husband|son|daughter|friend|neighbor|cousin|aunt|"
    "uncle|grandmother|coworker|roommate|twin|boss"
).split("|")
"""People besides the patient."""


def note(draw: random.Random) -> tuple[str, list[Marked]]:
    """Return a note and its mentions."""
    names = [*ABBREVIATIONS, *ABBREVIATIONS, *RARER]
    kind = draw.random()
    if kind < FINDINGS_SHARE:
        frame, names = _findings(draw), [*own_conditions().symptoms, *ABBREVIATIONS]
    elif kind < FINDINGS_SHARE + OTHERS_SHARE:
        frame = draw.choice(OTHERS).replace("WHO", draw.choice(WHO))
        names = [*own_conditions().symptoms, *own_conditions().serious]
    else:
        frame = draw.choice(SILENT if draw.random() < SILENT_SHARE else REACTED)
    while "DRUG" in frame:
        frame = frame.replace("DRUG", drug(draw), 1)
    for name in draw.sample(names, frame.count("a]") + frame.count("<a>")):
        place = min(at for at in (frame.find("[a]"), frame.find("<a>")) if at >= 0)
        if draw.random() < 0.12:
            name = draw.choice(own_conditions().symptoms)
        frame = (
            frame[:place] + (f"[c {name}]" if frame[place] == "[" else name) + frame[place + 3 :]
        )
    while "[m]" in frame:
        value = draw.choice(MEASURED).replace("{}", str(draw.randint(1, 9)))
        frame = frame.replace("[m]", f"[c {value}]", 1)
    for part in "NVD":
        frame = frame.replace(f"[{part}]", f"[c {part}]")
    return read(frame)


def _findings(draw: random.Random) -> str:
    """Return a frame such as "[a] (+), <a> (-) on DRUG"."""
    before = draw.random() < 0.25
    present, absent = draw.choice(SIGNS_BEFORE if before else SIGNS)
    items = []
    for _ in range(draw.choice((1, 2, 2, 3, 3, 4))):
        sign, item = (present, "[a]") if draw.random() < 0.45 else (absent, "<a>")
        items.append(sign + item if before else item + sign)
    joined = draw.choice((", ", ", ", "; ", " / ", ". ")).join(items)
    return draw.choice(HEADINGS) + joined + draw.choice(ENDINGS)


def made_up_notes(number: int, seed: int = 0) -> Iterator[Document]:
    """Yield documents of one line each, always the same for the same seed."""
    draw = random.Random(seed)
    splitter = Splitter("whole")
    seen = set[str]()
    while len(seen) < number:
        text, marked = note(draw)
        style = draw.random()
        text = text.lower() if style < 0.12 else text.upper() if style < 0.17 else text
        if text not in seen:
            seen.add(text)
            yield splitter.document(text, marked, id=f"note.{len(seen)}")


def main() -> None:
    """Print made-up notes."""
    parser = argparse.ArgumentParser(description="Print made-up clinical notes.")
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for each in made_up_notes(arguments.number, arguments.seed):
        print(each.text, [mention.text for mention in each.mentions])


if __name__ == "__main__":
    main()
