# ruff: noqa: SIM905
"""Made-up coordinations, shared and separate, to train the bundled model on.

"Rash and chest pain" are two reactions that share no word, "chest and back pain" are two that do.
Both kinds are in the same frames, separate ones more often, as in PsyTAR: there, 179 pairs of
neighbouring mentions around "and", "or", "&" or "/" are separate, and 83 pairs share words
(`discotag.training.separating`). To see some, run `python benchmarks/made_up_coordinations.py`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from conditions import ABBREVIATIONS, Conditions, all_conditions, own_conditions
from discotag import Document, Mention, Sentence
from discotag.lexicon import Lexicon
from discotag.marks import Marked
from discotag.training.separating import Neighbours
from discotag.words import Splitter
from made_up_posts import (
    BODY,
    DRUG_FRAMES,
    ENDED,
    FEELINGS,
    FRAMES,
    SHARED,
    body,
    both,
    capitalised,
    drug,
    feelings_before,
    parts_after,
    parts_before,
    read,
    several,
    shared_beginning,
    shared_end,
    where,
)
from made_up_reports import DID, OUTSIDE, OWN_SHARE, TIMES, styled

SHARED_SHARE = 83 / (83 + 179)
"""The share of coordinations that are shared."""

MIXED_SHARE = 0.25
"""The share of shared coordinations that are joined to a separate mention."""

SILENT_SHARE = 0.13
"""The share of lines whose reactions did not happen, or not to the patient."""

TAIL_SHARE = 0.12
"""The share of lines in which a time or the like follows the mentions."""

LINKS = {
    " and ": 40, " or ": 10, " & ": 9, "/": 7, ", ": 9, "; ": 6, " with ": 6, " plus ": 6,
    " as well as ": 2, " along with ": 2, ", and ": 3, " / ": 2,
}  # fmt: skip
"""What joins separate mentions, with weights."""

NUMBERS = {2: 70, 3: 20, 4: 10}
"""The numbers of separate mentions in a line, with weights."""

DEGREES = (
    "severe|really bad|horrible|mild|awful|sudden|terrible|intense|extreme|worsening|grade 3|"
    "constant|occasional|persistent|new onset|unexplained|acute|transient|nasty|some"
).split("|")
"""Words of degree, before the last mention only: elsewhere they may be meant for all."""

SITES = (
    "chest|stomach|muscle|joint|eye|ear|skin|scalp|gum|mouth|throat|leg|arm|hand|foot|back|neck|jaw|"
    "hip|knee|liver|kidney|lung|bowel|bladder|rectal|vaginal|nasal|facial|abdominal|pelvic|ankle|"
    "tendon|nerve|injection site|lower back|breast|testicular|urinary tract|sinus|tongue|nail|calf|"
    "shoulder|rib|groin|finger|toe|lip|tooth|thigh|proximal muscle|upper arm|infusion site"
).split("|")
HEADS = (
    "pain|ache|swelling|spasms|cramps|weakness|stiffness|bleeding|ulcers|infection|failure|damage|"
    "rash|itching|burning|tightness|numbness|discoloration|blisters|lesions|inflammation|tremor|"
    "injury|irritation|tenderness|discharge|edema|sores|problems|dryness|redness|paresthesias|"
    "bruising|pressure|discomfort|twitching|necrosis|toxicity|hemorrhage|sensitivity"
).split("|")
LOOKS = (
    "swollen|peeling|cracked|dry|itchy|red|watery|bloodshot|puffy|numb|cold|sore|bleeding|yellow|"
    "pale|burning|shaky|stiff|heavy|weak|tender|blotchy|clammy|flaky|bruised|droopy|blue|restless"
).split("|")
THINGS = (
    "glands|eyes|lips|skin|hands|feet|fingers|gums|joints|ankles|eyelids|tongue|nails|legs|arms|"
    "scalp|face|ears|toes|throat|nose|cheeks|tonsils|veins|knees|lymph nodes|breasts|mouth|palms|"
    "soles"
).split("|")
CHANGES = "low|high|elevated|decreased|abnormal|rising|dropping".split("|")
VALUES = (
    "potassium|sodium|platelets|white count|creatinine|liver enzymes|blood sugar|blood pressure|"
    "heart rate|hemoglobin|calcium|magnesium|bilirubin|ALT|AST|INR|TSH|lipase|CK|cholesterol|mood|"
    "libido|appetite|energy|body temperature|neutrophils|oxygen"
).split("|")
SINGLE = (
    "rash|hives|urticaria|flushing|thrush|anemia|jaundice|neutropenia|tinnitus|vertigo|hiccups|"
    "hoarseness|forgetfulness|confusion|constipation|yawning|sweating|chills|fever|tremors|"
    "fainting|falls|palpitations|gas|bloating|nausea|vomiting|diarrhea|dizziness|insomnia|"
    "nightmares|anxiety|agitation|irritability|apathy|drowsiness|fatigue|headache|migraine|cough|"
    "wheezing|dyspnea|hypotension|bradycardia|pancreatitis|hepatitis|mucositis|neuropathy|"
    "hyponatremia|ataxia|pneumonia|sepsis|seizures|psychosis|mania|delirium|depression|paranoia|"
    "hallucinations|acne|alopecia|eczema|pruritus|gout|cataracts|glaucoma|menopause|impotence|"
    "infertility|drooling|snoring|belching|heartburn|indigestion|hemorrhoids|incontinence|thirst|"
    "dehydration|anorexia|lethargy|malaise|weakness|numbness|tingling|cramps|bruising|nosebleeds|"
    "shingles|cellulitis|myocarditis|arrhythmia|angina|lymphoma|leukemia|osteoporosis|fractures|"
    "encephalopathy|stroke"
).split("|")
"""Words that reactions are made up of, beside the names of conditions."""

DETERMINERS = "a |some |my |this |the |occasional |a bit of |lots of |also ".split("|")
TAILS = (
    " every day| for hours| at night| all day| in the evenings| for the last six weeks| all week|"
    " within the hour| by day 3| twice| each time| in the mornings| after each dose| for weeks|"
    " the whole time| on the higher dose| since last fall| on and off| right away| overnight"
).split("|")
"""What is before or after the mentions of a line, and not part of them."""

LONGER = (
    "Started DRUG on Monday for my knee and by TIME I had {}.|"
    "My doctor says it is not the DRUG, but I never had {} before I took it.|"
    "Pt is a 54 yo male who developed {} after TIME on DRUG; drug was held.|"
    "Pt developed {} s/p DRUG, resolved after discontinuation.|"
    "She was switched to DRUG last spring and has since complained of {}.|"
    "Has anybody else had {} on this? My pharmacist has never heard of it.|"
    "It did help with what I took it for, but the {} made me quit after TIME.|"
    "Hospitalized with {} TIME after the first dose.|"
    "I was told it is safe, and TIME later I was in the ER with {}.|"
    "The patient presented with {} and DRUG was stopped.|"
    "71 y/o female admitted for {}, likely secondary to DRUG.|"
    "Taking DRUG for TIME now. The only things that bother me are {}.|"
    "On 40 mg I got {}, on 20 mg nothing at all.|"
    "tried DRUG again last year and same story, {} within TIME|"
    "Thought it was the flu at first, but the {} only came after each pill.|"
    "AE: {}. Outcome: recovered.|Reported events: {}.|c/o {} since starting DRUG|"
    "Discontinued DRUG due to {}.|DRUG stopped because of {} (grade 3).|"
    "went off it because of {} and feel like myself again|"
    "no problems for TIME, then {} out of nowhere|"
    "My son got {} after his second dose, we called the doctor right away.|"
    "Works fine for the infection. Got {} though.|"
    "Day 3: {}. Day 10: all gone.|Subject experienced {} at week 4.|"
    "Following administration of DRUG the patient experienced {}.|"
    "{} since starting DRUG.|{} after TIME on DRUG.|{} from DRUG|{}, thanks to DRUG|"
    "{} started the day after my shot.|{} TIME after DRUG was added.|{}!|{} again today|"
    "DRUG caused {}, so I stopped.|I get {} every time I take it.|Woke up at 3 with {}.|"
    "Side effects were {}.|just {}, nothing else|still having {} TIME later|"
    "Therapy stopped on account of {}.|DRUG discontinued for {}, rechallenge not planned.|"
    "Dose cut because of {}.|Drug held for {}|w/u for {} on DRUG, all else normal|"
    "noted to have {} on long term DRUG.|{} noted on exam today, on DRUG since May.|"
    "Reasons for stopping: {}.|AE log, visit 2: {}|AEs: {}; all resolved.|"
    "ADR on file for DRUG: {}|Presented in the ED with {} on day 4 of DRUG.|"
    "Pt presented with {} and was found to be on DRUG.|58M with {}, DRUG stopped.|"
    "34F, second cycle of DRUG, now {}.|DX: {}, DRUG STOPPED|"
    "it took me a year to work out that my {} came from DRUG|"
    "What my mother got from it: {}.|She slept badly and had {} until we stopped the DRUG.|"
    "Thanks to this drug I have {}, but I am alive.|I wanted to love this stuff but got {}.|"
    "For the first month I thought the {} were just my age, then I read the leaflet.|"
    "The DRUG lowered my numbers nicely, but with it came {}.|"
    "Between the {} I was ready to throw the bottle in the bin.|"
    "There is no week without {} on 200 mg.|not a day without {} since the dose went up|"
    "If I skip breakfast I get {} from it.|When I take two I end up with {}.|"
    "there's always something on this drug, be it {}|Always {} an hour after the tablet|"
    "it's {} with this one, every single time|so DRUG gave me {}, cute|"
    "My {} started on the very first day, my sister takes the same pill without any trouble.|"
    "The GP thinks my {} means the dose is too high.|"
    "I finally asked to come off it after {}, and the clinic agreed at once.|"
    "On holiday I took it for malaria and had {} all along, beautiful island though.|"
    "DRUG and I do not get on: {}.|They told me I would hardly notice it, and here I am with {}.|"
    "Hospitalized for {} on the new pill.|my {} combo is courtesy of DRUG|{}, labs pending.|"
    "{} after the infusion, sent home the same evening.|{} when I take it with food|"
    "TIME in: {}. Anyone else?|Does the {} ever stop? On DRUG since TIME.|"
    "Tolerating DRUG poorly with {}.|Course complicated by {} (DRUG).|"
    "Not sure it is worth it: {} for a bit less pain in my knee.|"
    "my daughter started DRUG and now {}|after TIME dad had {} and they changed it to DRUG|"
    "{} :(|{} from out of the blue|{}, no thank you|{}, never again|{} on top of it all|{} ugh|"
    "Every tablet means {}.|Each injection is followed by {}.|The side effects I get: {}.|"
    "What I noticed so far: {}.|My only complaints are {}.|Known for {} in my case.|"
    "Brought in by ambulance for {} TIME after DRUG.|Admitted with {} after a week of DRUG.|"
    "{} for the whole month I took DRUG.|{} until I quit.|{}. That is DRUG for you.|"
    "I have had DRUG since my divorce, and though it helps, the {} wear me down.|"
    "He takes DRUG for his exams; his mother noticed {} before he did.|"
    "take your pick: {}, every single day|{}, what a week|so far only {}|could live without {}|"
    "My pharmacist blames DRUG for {}.|Reported after vaccination: {}.|Post op on DRUG: {}.|"
    "Visit 3: {} since last visit.|Nobody warned me about {}, and now I have it.|{} x 2 weeks|"
    "My baby had {} after the shot.|dog tired with {} on DRUG|it's the {} that I can't stand|"
    "After doubling the dose: {}.|{} again this morning, an hour after DRUG|{}?! thanks DRUG"
).split("|")
"""Frames besides those of `made_up_posts`; TIME is a time, DRUG a drug."""

LIST_FRAMES = (
    "{}|{}|{}|{}.|Side effects: {}|Side effects: {}.|side effects - {}|SE: {}|SEs: {}|S/E {}|"
    "Cons: {}|Cons: {}.|Pros: it works. Cons: {}|Cons - {}|cons {}|Bad: {}. Good: I sleep.|"
    "Negatives: {}|Downsides: {}.|Symptoms: {}|Reactions: {}|Reaction: {}.|Effects: {}|"
    "- {}|- {}.|* {}|+ {}|1. {}|2) {}|Week 1: {}|First days: {}.|Problems: {}|Complaints: {}.|"
    "Adverse effects: {}|Adverse events: {}.|ADRs: {}|What I have: {}|My list: {}.|DRUG - {}|"
    "Experienced {}.|Had {}.|{} etc|{} etc.|{} and so on|mostly {}|First {}|also {}|Just {}.|"
    "Some {}|{}... the works|The usual: {}.|DRUG side effects: {}|- {} (TIME)|{} so far."
).split("|")
"""Frames of lists, such as those of forms and posts."""

LIST_SHARE = 0.2
"""The share of separate coordinations that are such lists; all mentions may be single words."""

SILENT_FRAMES = (
    "Denies {}.|No {}.|No {} so far on DRUG.|My sister had {} on it, I am fine.|"
    "I had {} before I took DRUG, it is gone now.|I take DRUG for {}.|Call us if you get {}.|"
    "The leaflet warns of {}.|Never had {}.|Patient denies {} at this time.|"
    "h/o {}, now on DRUG|Does DRUG cause {}?|Negative for {}.|w/o {}|"
    "DRUG got rid of my {} within TIME.|My {} got better on DRUG.|{} eased with DRUG|"
    "{} all better on DRUG|{} before DRUG, none since.|DRUG works well for my {}.|"
    "Took DRUG for {} and it helped.|{} gone since I take DRUG|{} long before DRUG|"
    "The {} turned out to be an infection, not the DRUG.|{} improved with DRUG|No more {} on DRUG!|"
    "My neighbor stopped DRUG over {}, I never had that.|Started DRUG because of {}.|"
    "They put me on DRUG for {}.|DRUG helps with {}|I was afraid of {}, but nothing happened.|"
    "{} resolved with DRUG.|{}: no|{}? Not me.|Without DRUG I had {}.|prone to {} since childhood"
).split("|")

DID_FRAMES = (
    "I {}.|i {}|she {} on DRUG|My son {} after TIME.|On DRUG I {}.|Within an hour I {}.|"
    "I {} and told my doctor.|By day 3 I {}.|He {}, so we stopped DRUG.|{} after TIME|{} on DRUG.|"
    "Since I take DRUG I {}, never before.|My mother {} from DRUG.|started DRUG and {} all week|"
    "I {} the whole time I was on it.|DRUG: {}|{}, that was DRUG for me|"
    "It was meant to help my back, instead I {}.|Took one pill and {}"
).split("|")
"""Frames of what the patient did, or could not do."""

PART_FRAMES = (
    "My {}.|my {} on DRUG|After TIME my {}.|His {} and he stopped DRUG.|Her {} within the hour.|"
    "My {}, nothing helped.|On DRUG my {} every night.|DRUG: {}|{} since DRUG|{} after TIME.|"
    "My {} before the nurse was back.|by TIME my {}|I took DRUG and my {}.|The {} after the shot."
).split("|")
"""Frames of parts of the body and what they did."""

ENDS = {
    "infections": "ear|sinus|chest|kidney|yeast|fungal|skin|throat|bladder",
    "cramps": "menstrual|stomach|foot|hand|calf|night time",
    "ulcers": "leg|corneal|esophageal|tongue|mouth|genital",
    "bleeding": "vaginal|gum|nasal|retinal|uterine|internal",
    "neuropathy": "optic|peripheral|autonomic|sensory",
    "thoughts": "intrusive|morbid|paranoid|strange|homicidal|hopeless",
    "movements": "jerky|involuntary|repetitive|lip|tongue|eye",
    "behavior": "impulsive|aggressive|reckless|compulsive",
    "stools": "loose|bloody|pale|tarry|greasy",
    "urine": "dark|foamy|bloody|cloudy",
    "nails": "brittle|ridged|yellow|splitting",
    "sleep": "broken|restless|poor|unrefreshing",
    "speech": "slurred|slow|garbled|pressured",
    "pulse": "weak|fast|irregular|thready",
    "breathing": "shallow|noisy|labored|fast",
    "spots": "red|brown|itchy|purple|raised",
    "toxicity": "ocular|renal|cardiac|pulmonary|hepatic|nerve",
    "edema": "pedal|pulmonary|macular|periorbital|facial|laryngeal",
    "symptoms": "flu-like|menopausal|extrapyramidal|psychotic|urinary",
    "reactions": "allergic|dystonic|skin|infusion|injection site",
    "insufficiency": "adrenal|renal|venous|respiratory",
    "hallucinations": "tactile|olfactory|vivid|frightening|command",
    "mood": "low|flat|unstable|angry",
    "hair": "thin|brittle|dull",
    "sided weakness": "left|right",
    "sided chest pain": "left|right",
    "nodes": "neck|armpit|groin",
    "dreams": "vivid|violent|strange|lucid|sexual",
    "vision": "double|blurry|tunnel|dim",
    "taste": "metallic|bitter|salty|soapy",
    "skin": "dry|itchy|peeling|yellow|paper thin|oily",
    "function": "liver|kidney|thyroid|sexual",
    "failure": "liver|kidney|heart|respiratory",
    "attacks": "panic|gout|asthma|anxiety",
    "clots": "leg|lung|brain",
    "periods": "heavy|painful|missed|irregular",
}
"""What mentions share at their end, with what differs before it."""

BEGINNINGS = {
    "afraid of": "crowds|heights|my own shadow|dying|going out",
    "sensitive to": "bright lights|touch|heat|cold|smells|sunlight",
    "inability to": "urinate|concentrate|climax|focus|cry",
    "unable to": "swallow|stand up|sit still|focus|sleep|drive|pass urine|use the stairs|think",
    "thoughts of": "death|suicide|hurting myself|hurting others",
    "pain when I": "swallow|walk|breathe in|cough|sit|chew",
    "stinging when I": "swallow|wash|sweat|shave",
    "no": "energy|appetite|interest in sex|motivation|strength|feelings|desire",
    "sense of": "doom|dread|unreality|panic",
    "high": "cholesterol|triglycerides|potassium|calcium|blood sugar|INR",
    "bruises on my": "arms|legs|belly|thighs|shins",
    "ringing in my": "left ear|right ear|head",
    "changes in": "taste|smell|vision|mood|weight|sleep",
    "urinary": "urgency|hesitancy|frequency|retention|incontinence",
    "muscle": "pain|weakness|cramps|wasting|twitching",
    "abdominal": "pain|bloating|cramps|distension",
    "joint": "pain|stiffness|swelling",
    "visual": "snow|disturbances|hallucinations|loss",
    "night": "sweats|terrors|cramps|blindness",
    "weight": "gain|loss|fluctuations",
    "hair": "loss|thinning|breakage",
    "mood": "swings|changes|lows",
    "cramps in both": "feet|calves|hands|thighs",
    "problems with": "my memory|my balance|my vision|my sleep|erections",
    "fear of": "dying|people|the dark|flying|going outside",
    "swelling of the": "lips|tongue|ankles|hands|face",
    "bleeding from the": "gums|nose|bowel|ears",
    "difficulty": "swallowing|breathing|urinating|walking|concentrating|sleeping",
    "inflammation of the": "pancreas|gallbladder|heart muscle|bowel|eyes|veins",
}
"""What mentions share at their beginning, with what differs after it."""

DID_BEGINNINGS = {
    "couldn't": "swallow|stay awake|hold a cup|remember names|sleep|sit still|eat|climb stairs",
    "could not": "stop shaking|breathe|eat|think|stand|urinate|keep my eyes open",
    "lost my": "hearing|hair|sense of smell|temper|balance|mind|nails|eyelashes",
    "can't stop": "crying|eating|scratching|shaking|yawning|sweating",
    "kept": "dropping things|waking up|falling over|throwing up|losing my keys|losing words",
    "woke up": "sweating|gasping|in a panic|shaking|with a headache",
    "felt": "faint|shaky|spaced out|weak|drunk|detached|wired",
    "was too": "tired to work|dizzy to drive|weak to stand|sick to eat",
    "threw up": "blood|everything I ate|bile",
    "had trouble": "swallowing|breathing|walking straight|finding words|falling asleep",
    "broke out in": "hives|a cold sweat|a rash|blisters|pimples",
    "gained": "weight|20 pounds|a belly",
    "kept forgetting": "names|where I was|my keys|what I wanted to say",
    "wakes up": "screaming|soaked|in tears|confused",
    "was scared of": "the dark|other people|every noise|being alone",
    "broke": "my hip|two ribs|a tooth",
    "can't": "sleep|eat|concentrate|breathe|feel my feet|get out of bed|pee|orgasm",
    "forgot": "appointments|my own address|names|words",
}

BETWEEN = (
    ("loss of", "bladder|bowel|motor|temper|impulse", "control"),
    ("abnormal", "liver|kidney|thyroid", "function"),
    ("low", "red cell|white cell|platelet", "counts"),
    ("poor", "short term|long term", "memory"),
    ("pain in my", "upper|lower", "jaw"),
    ("aching in the", "left|right", "shoulder"),
    ("trouble", "falling|staying", "asleep"),
    ("loss of", "night|color|side|central", "vision"),
    ("painful", "hip|knee|finger", "joints"),
    ("swollen", "neck|groin|armpit", "glands"),
    ("redness of the", "left|right|upper|lower", "eyelid"),
    ("decreased", "hearing|feeling|strength", "on the left"),
    ("tingling in my", "left|right", "hand"),
    ("numb", "left|right", "arm"),
    ("tender", "neck|armpit|groin", "nodes"),
    ("infection of the", "upper|lower", "airways"),
    ("swelling of my", "upper|lower", "lip"),
    ("increased", "eye|blood|skull", "pressure"),
    ("painful", "left|right|big", "toe"),
)
"""What mentions share around the parts that differ."""

REACTED = (
    "went numb|swelled up|turned blue|puffed up|locked up|cramped up|ached|burned|tingled|peeled|"
    "itched|twitched|felt like lead|gave out|went dead|got stiff|started shaking|blew up|bled|"
    "turned purple|felt on fire|are swollen|were sore|are numb|are always cold|got itchy|blistered"
).split("|")
"""What parts of the body did."""

PLACES = "in of around down".split()
"""Words after which the place of a feeling follows."""


def sites_before(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "liver and kidney damage"."""
    return f"{several(draw, SITES, 'x')} [y {draw.choice(HEADS)}]"


def looks_before(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "red and itchy eyelids" or "swollen lips and eyelids"."""
    if draw.random() < 0.5:
        return f"{several(draw, LOOKS, 'x')} [y {draw.choice(THINGS)}]"
    return f"[x {draw.choice(LOOKS)}] {several(draw, THINGS, 'y')}"


def sides_between(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "pain in my left and right knee"."""
    sides = draw.choice((["left", "right"], ["upper", "lower"], ["inner", "outer"]))
    middle = several(draw, sides, "y", 2)
    part = draw.choice(BODY).removesuffix("s")
    if draw.random() < 0.3:
        return f"[x {draw.choice(LOOKS)}] {middle} [z {part}]"
    return f"[x {draw.choice(FEELINGS)} {where(draw)}] {middle} [z {part}]"


def feelings_and_parts(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "redness and itching of my cheeks, neck and scalp"."""
    parts = several(draw, body(draw, rare), "y")
    return f"{several(draw, HEADS, 'x')} [z {where(draw)}] {parts}"


def changes_before(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "elevated ALT/AST"."""
    return f"[x {draw.choice(CHANGES)}] {several(draw, VALUES, 'y')}"


def other_ends(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "dark and foamy urine"."""
    end = draw.choice(list(ENDS))
    return f"{several(draw, ENDS[end].split('|'), 'x', 2)} [y {end}]"


def other_beginnings(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "sensitive to heat and touch"."""
    beginning = draw.choice(list(BEGINNINGS))
    return f"[x {beginning}] {several(draw, BEGINNINGS[beginning].split('|'), 'y')}"


def ends_and_beginnings(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "loss of bladder and bowel control"."""
    beginning, middle, end = draw.choice(BETWEEN)
    return f"[x {beginning}] {several(draw, middle.split('|'), 'y')} [z {end}]"


def parts_and_looks(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "cheeks and scalp red, dry and flaky"."""
    parts = several(draw, THINGS, "x", 2)
    are = draw.choice(("", "", "are ", "were ", "turned ", "all "))
    return f"{parts} {are}{several(draw, LOOKS, 'y')}"


def doings(draw: random.Random) -> str:
    """Return a pattern such as "couldn't eat or sleep"."""
    beginning = draw.choice(list(DID_BEGINNINGS))
    return f"[x {beginning}] {several(draw, DID_BEGINNINGS[beginning].split('|'), 'y')}"


def parts_that_did(draw: random.Random, rare: list[str]) -> str:
    """Return a pattern such as "ankles and wrists swelled up"."""
    some = draw.choice((THINGS, body(draw, rare)))
    if draw.random() < 0.6:
        return f"{several(draw, some, 'x')} [y {draw.choice(REACTED)}]"
    did = several(draw, REACTED, "y", 2)
    if draw.random() < 0.5:
        return f"[x {draw.choice(some)}] {did}"
    return f"{several(draw, some, 'x', 2)} {did}"


SHARING = (
    parts_after, parts_after, feelings_before, feelings_before, both, parts_before, parts_before,
    shared_beginning, shared_end, sites_before, sites_before, looks_before, looks_before,
    sides_between, feelings_and_parts, feelings_and_parts, changes_before, other_ends, other_ends,
    other_beginnings, other_beginnings, ends_and_beginnings, ends_and_beginnings, parts_and_looks,
)  # fmt: skip

DID_SHARE, PART_SHARE = 0.12, 0.1
"""The shares of shared coordinations of what the patient did, and of what parts of the body did."""


class Writer:
    """Writes lines with coordinations.

    Args:
        draw: The random numbers.
        conditions: The names of reactions.
    """

    def __init__(self, draw: random.Random, conditions: Conditions) -> None:
        self.draw = draw
        self.conditions = conditions
        self.rare = sorted(t for t in Lexicon.default().terms if t.isascii() and len(t) < 20)
        # "Muscle weakness and pain" may share a word if there is "muscle pain", and "numbness and
        # pain in my legs" words of the place.
        places = [f"{feeling} {place}" for feeling in FEELINGS for place in PLACES]
        made = [f"{site} {head}" for site in SITES for head in HEADS]
        names = [*conditions.serious, *conditions.symptoms, *places, *self._compounds(), *made]
        self.neighbours = Neighbours([_as_sentence(name) for name in names])

    def line(self, lists: bool = False) -> tuple[str, list[Marked]]:
        """Return a line and its mentions; with `lists`, of a list."""
        draw = self.draw
        frame = draw.choice(draw.choice((FRAMES, LONGER, LONGER, DRUG_FRAMES)))
        silent = False
        kind = draw.random()
        if lists or draw.random() >= SHARED_SHARE:
            did = not lists and draw.random() < 0.12
            listed = lists or (not did and draw.random() < LIST_SHARE)
            pattern = self._list() if listed else self._separate(self._did if did else self._name)
            if listed:
                frame = draw.choice(LIST_FRAMES)
            if did and draw.random() < 0.8:
                frame = draw.choice(DID_FRAMES)
        elif kind < DID_SHARE:
            pattern, frame = doings(draw), draw.choice(DID_FRAMES)
        elif kind < DID_SHARE + PART_SHARE:
            pattern, frame = parts_that_did(draw, self.rare), draw.choice(PART_FRAMES)
        else:
            pattern = self._shared()
        if frame not in (*DID_FRAMES, *PART_FRAMES, *LIST_FRAMES) and draw.random() < SILENT_SHARE:
            silent, frame = True, draw.choice(SILENT_FRAMES)
        while "DRUG" in frame:
            frame = frame.replace("DRUG", drug(draw), 1)
        frame = frame.replace("TIME", draw.choice(TIMES))
        if frame.startswith("{}"):
            pattern = capitalised(pattern)
        before, after = frame.split("{}")
        if draw.random() < TAIL_SHARE:
            after = draw.choice(TAILS) + after
        text, marked = read(pattern)
        moved = [
            Marked(each.label, tuple((s + len(before), e + len(before)) for s, e in each.fragments))
            for each in marked
        ]
        return before + text + after, [] if silent else moved

    def _separate(self, make: Callable[..., str]) -> str:
        """Return a pattern of mentions that share no word, each made by a method of this class."""
        draw = self.draw
        (number,) = draw.choices(list(NUMBERS), list(NUMBERS.values()))
        while True:
            items = [make(last=place == number - 1) for place in range(number)]
            words = [tuple(each.lower().split()) for each in items]
            if (
                max(map(len, words)) > 1
                and all(set(a).isdisjoint(b) for a, b in combinations(map(_content, words), 2))
                and not any(self.neighbours.can_share(*pair) for pair in combinations(words, 2))
            ):
                break
        (link,) = draw.choices(list(LINKS), list(LINKS.values()))
        marked = [self._determined(f"[c {each}]") for each in items]
        if number == 2 and link in (" and ", " or ") and draw.random() < 0.06:
            marked[0] = f"{'both' if link == ' and ' else 'either'} {marked[0]}"
        # "rash; fever; chest pain" and "rash/fever/chest pain", but "rash, fever plus chest pain".
        inner = link if link in ("/", " / ", "; ") else ", "
        return inner.join(marked[:-1]) + link + marked[-1]

    def _list(self) -> str:
        """Return a pattern of one to six mentions, of which all may be single words."""
        draw = self.draw
        plain, link = (
            draw.choice((SINGLE, None)),
            draw.choice((", ", ", ", ", ", "; ", " / ", ". ")),
        )
        while True:
            count = draw.randint(1, 6)
            items = [
                self._name(last=False) if plain is None else draw.choice(plain)
                for _ in range(count)
            ]
            words = [_content(tuple(each.lower().split())) for each in items]
            if all(a.isdisjoint(b) for a, b in combinations(words, 2)) and not any(
                self.neighbours.can_share(tuple(a.lower().split()), tuple(b.lower().split()))
                for a, b in combinations(items, 2)
            ):
                break
        if draw.random() < 0.2:
            items = [f"{draw.choice(DEGREES)} {items[0]}", *items[1:]] if plain else items
        marked = [f"[c {each}]" for each in items]
        end = draw.choice((link, " and ", ", and ")) if link == ", " else link
        return link.join(marked[:-1]) + end + marked[-1] if count > 1 else marked[0]

    def _determined(self, marked: str) -> str:
        """Return a mention, sometimes after a word that is not part of it."""
        draw = self.draw
        return draw.choice(DETERMINERS) + marked if draw.random() < 0.08 else marked

    def _shared(self) -> str:
        draw = self.draw
        group = draw.choice(SHARING)(draw, self.rare)
        if draw.random() >= MIXED_SHARE:
            return group
        while True:
            alone = self._name(last=False)
            if _content(tuple(alone.lower().split())).isdisjoint(_content(_words(group))):
                break
        parts = [f"[c {alone}]", group]
        draw.shuffle(parts)
        return draw.choice((", ", " plus ", "; ", " and also ", " with ")).join(parts)

    def _name(self, *, last: bool) -> str:
        """Return the name of a reaction that shares no word with what is around it."""
        draw, own = self.draw, own_conditions()
        kind = draw.random()
        if kind < 0.12:
            place = draw.choice(body(draw, self.rare))
            return (
                f"{draw.choice(FEELINGS)} {where(draw)} {place}" if last else self._name(last=last)
            )
        if kind < 0.2:
            return draw.choice(self._compounds())
        if kind < 0.34:
            return draw.choice(SINGLE)
        if kind < 0.46:
            return f"{draw.choice(SITES)} {draw.choice(HEADS)}"
        if kind < 0.54:
            return f"{draw.choice(LOOKS)} {draw.choice(THINGS)}"
        if kind < 0.59:
            return f"{draw.choice(CHANGES)} {draw.choice(VALUES)}"
        if kind > 0.96:
            return draw.choice(ABBREVIATIONS)
        names = own if draw.random() < OWN_SHARE else self.conditions
        listed = draw.choice((names.serious, names.symptoms, names.symptoms))
        name = draw.choice(listed)
        if name.split()[0] in DEGREES and not last:
            return self._name(last=last)
        # Of a first mention, the adjective might be meant for all.
        return f"{draw.choice(DEGREES)} {name}" if last and kind > 0.85 else name

    def _did(self, *, last: bool) -> str:
        """Return what the patient did, or could not do."""
        return OUTSIDE.sub(r"\2", self.draw.choice(DID))

    @staticmethod
    def _compounds() -> list[str]:
        beginnings = [f"{a} {b}" for a, each in SHARED.items() for b in each.split("|")]
        endings = [f"{a} {b}" for b, each in ENDED.items() for a in each.split("|")]
        return beginnings + endings


FUNCTION = frozenset("of in the my a an and or to with on at for both around down".split())


def _content(words: Sequence[str]) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in words) - FUNCTION


def _words(pattern: str) -> tuple[str, ...]:
    return tuple(read(pattern)[0].lower().replace(",", " ").replace("/", " ").split())


def _as_sentence(name: str) -> Sentence:
    words = tuple(name.split())
    return Sentence(words, (Mention("ADR", ((0, len(words)),)),))


def made_up_coordinations(
    number: int, seed: int = 0, conditions: Conditions | None = None, *, lists: bool = False
) -> Iterator[Document]:
    """Yield documents of one line each, always the same for the same seed and conditions.

    Args:
        number: The number of documents.
        seed: The seed of the random numbers.
        conditions: The names to use; by default, those that need no other package.
        lists: Whether all are lists of separate reactions.
    """
    draw = random.Random(seed)
    writer = Writer(draw, conditions or own_conditions())
    splitter = Splitter("whole")
    seen = set[str]()
    while len(seen) < number:
        text, marked = writer.line(lists)
        text = styled(draw, text)
        if text not in seen:
            seen.add(text)
            yield splitter.document(text, marked, id=f"coordination.{len(seen)}")


def main() -> None:
    """Print made-up coordinations."""
    parser = argparse.ArgumentParser(description="Print made-up coordinations.")
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--own", action="store_true", help="use no names of other packages")
    arguments = parser.parse_args()
    conditions = own_conditions() if arguments.own else all_conditions()
    for each in made_up_coordinations(arguments.number, arguments.seed, conditions):
        print(each.text, [mention.text for mention in each.mentions])


if __name__ == "__main__":
    main()
