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
    "ANC drop|CKD|ESRF|CKD stage 3|Afib w/ RVR|PSVT|PACs|RBBB|LBBB|AR|MR|TR|PHTN|PVD|CAD|ACS|RVO|"
    "RD|POAG|AACG|PSC|GCA|PMR|MG|ALS|TGA|NCSE|GTC|PNES|TN|CTS|LBP|OA|RA flare|SLE|DM2|T2DM|NODAT|"
    "hypoT|hyperT|PCOS|PMB|BTB|IMB|HG|PROM|PTL|FGR|NAS|NEC|BPD|LRTI|RTI|CAP|PCP|TB|"
    "HBV reactivation|HZ|CMV|EBV|PJP|MRSA|BSI|FN|VRE|SSTI|AOM|OE|ABRS|FFI|TRALI|TACO|HSR|IRR|"
    "SDRIFE|LCV|PRP|AERD|NERD|FPIES|ACD|EAC|TEN/SJS|HAE|LID|TATT|PSSD|WD sx|PAWS|SI/HI|PTSD sx|"
    "PND|GAD sx|DP/DR|ADHD sx|MCI|EDS|PLMS|OSA|CSA|BPH sx|LUTS|OAB|ED/low libido|PE (early)|AUR|"
    "TIN|MCD|MN|TA-TMA|MAHA|PNH|ITP relapse|AML|t-MDS|CML|DLBCL|PTLD|BCC|SCC|CRC|HCC|CCA|NSCLC|"
    "NAFLD|NASH|PBC|DIAIH|ALI|EPI|SIBO|LUQ pain|RUQ pain|epigastric pain|HB|GORD|IBS-D|D+V|N&V|"
    "LOA|LOM|SOBOE|CWP|R arm weakness|L facial droop|b/l LE swelling|R eye pain|LBP w/ sciatica"
).split("|")
"""More of them, besides those of `conditions`."""

MEASURED = (
    "K 6.{}|Na 11{}|plt {}k|WBC 0.{}|Hgb {}|INR {}|QTc 5{}0|SBP 7{}|HR 3{}|BP 8{}/40|BP 21{}/110|"
    "T 10{}|temp 39.{}|sats 8{}%|Cr 4.{}|glucose 4{}0|BG 3{}|ANC {}|ALT {}80|CK {}2,000|Mg 0.{}|"
    "RR {}|HR 15{}|HR 140s|K 2.{}|plt 2{}|plts {}|Hb {}.1|Hb 5.{}|Hgb down to 6.{}|WBC 1.{}|"
    "WBC down|WBC 3{}|LFTs up|LFTs x{}|LFTs tripled|TSH 3{}|TSH 0.0{}|lipase {}00|lipase 1{}00|"
    "amylase {}50|TG {}00|TGs 11{}0|LDL up|A1c 1{}|CK {}5k|CK 4{},000|T 40.{}|T 10{}.2|Ca 7.{}|"
    "Ca 12.{}|phos 0.{}|bili {}.5|T bili 1{}|alk phos {}00|GGT {}50|AST 12{}0|ALT/AST 4{}0/310|"
    "Cr up to 3.{}|Cr x2|eGFR 1{}|eGFR down|EF 2{}%|EF down|LVEF 3{}%|PFTs down|DLCO 3{}%|"
    "SpO2 7{}%|sat 8{} on RA|lactate {}.8|pH 7.{}|HCO3 1{}|AG 2{}|ammonia 1{}0|MetHb 3{}%|"
    "COHb 1{}%|fib {}0|PTT 1{}0|ferritin 4{},000|IOP 4{}|PSA up|PRL 1{}0|Na 12{} and falling|"
    "BUN 9{}|eos 2{}%|ANC 0.{}|ALC 0.{}|BMD down|wt down {} kg|wt up 1{} lb|BP 19{}/120|"
    "BP down to 7{}/40|MAP 4{}|HR up 3{}"
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
    "[a] & [N]/[V]|my dad had a [a] after half a year of DRUG and was in the ICU for a week|"
    "got a [a] from DRUG at 31, never smoked|Ended up in the ER with [a], they blamed my DRUG.|"
    "has anyone else had [a] on DRUG? Mine came in week 6|my [a] is back since I restarted DRUG|"
    "nobody told me that DRUG could give me [a]|Doc says the [a] is from DRUG.|"
    "They say my [a] comes from DRUG and I should stop it.|DRUG left me with [a] for life|"
    "two yrs on DRUG and now I have [a]|second [a] this year, both on DRUG|"
    "[a] again, third time since DRUG|DRUG was great for my <a> until the [a]|"
    "<a> on DRUG, now w/ [a].|<a> pt on DRUG: [a]|<a>'er on DRUG, [a]|<a> + DRUG, [m]|"
    "<a>, DRUG x 6 wk, [m], DRUG held|<a>. On DRUG. [a] x 3 d, [m].|"
    "hx <a>, DRUG started, [a] wk 2|<a> s/p DRUG w/ [a], no <a>, no <a>|"
    "<a> on DRUG w/ [a], denies <a>|<a> on DRUG: [a], <a> neg|DRUG 40 qd: [m], [a]|"
    "DRUG wk 8, [m]|DRUG 3 yrs, [m], cards aware|routine labs on DRUG, [m]|"
    "labs today: [m], [m], DRUG off|[a] w/ [m] on DRUG|[m] and [a], DRUG d/c|[a], [m], [m]: DRUG|"
    "[a] from DRUG, CT confirms|bx: [a], attributed to DRUG|MRI c/w [a], on DRUG since May|"
    "EEG read as [a], DRUG level high|EGD: [a], DRUG stopped|echo shows [a] after 9 yrs of DRUG|"
    "CTA: [a], was on DRUG|US: [a], stop DRUG|bx c/w [a], DRUG is known for it|"
    "Consult for [a] on DRUG|derm consulted for [a], DRUG day 12|ID following for [a] on DRUG|"
    "Meets criteria for [a], DRUG wk 5|admitted in [a], had been on DRUG x 8 mo|"
    "needed fluids for [a] on DRUG|treated for [a], DRUG the likely cause|"
    "[a] post DRUG, epi given|[a] 3 h into the DRUG infusion|[a] 24 h after DRUG|"
    "DRUG in the OR, [a]|DRUG IV: [a], stopped|C2D8 DRUG: [a], [a]|C1D15 DRUG + DRUG: [a] gr 3|"
    "wk 12 of DRUG: [a]|mo 3 of DRUG, [a], [a]|DRUG on board 2 yrs, [a]|"
    "long term DRUG, [a] of both hips|[a] d/t long term DRUG|DRUG + DRUG -> [a]|"
    "[a] when DRUG was added to DRUG|[a] w/ DRUG on top of DRUG|DRUG-related [a]|DRUG-assoc [a]|"
    "DRUG induced [a], on steroids now|[a] 2/2 DRUG per heme|[a] (DRUG), [a] (DRUG)|"
    "DRUG: [N], [V]. DRUG: [a].|[D] x 8 today on DRUG|[N] only, no V or D|[V] x 3 after DRUG|"
    "N-, V-, [D]+ on DRUG|DRUG: [D], no N/V|[D]/[a] since DRUG|"
    "I get [a] whenever I take DRUG w/o food|she takes DRUG for <a> and now has [a]|"
    "Takes DRUG for the [a] that DRUG gives her|Took DRUG for <a> and got [a].|"
    "the [a] from DRUG was worse than the <a>|GP notes say [a] and [a] since DRUG|"
    "[a] most days on DRUG|[a] daily since DRUG.|stopped DRUG cold, [a] for months|"
    "My [a] started the week after the shot.|24 h post shot: [a], [m], [a]|post vax [a] and [a]|"
    "Pharmacist here: pt w/ [a] on DRUG, any ideas?|ICU w/ [a], last DRUG 3 h ago|"
    "DRUG level 22, [a]|[a] - DRUG off, DRUG on|[m] - DRUG off, labs in am|"
    "[a]: [m], [m], on DRUG|[a] x2 wks, worse since DRUG 80|[a] and [a] s/p 2nd dose|"
    "[a] at 6 wks, DRUG changed to DRUG"
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
    "sister had <a> on DRUG|<a> since childhood|chronic <a>, stable on DRUG|N/V -|no N/V/D|"
    "<a> on DRUG, doing well|<a>, <a> and <a>, all controlled on DRUG|"
    "pt w/ <a> and <a>, DRUG refill|<a> clinic f/u, DRUG 20 mg, no complaints|"
    "DRUG for my <a> works great|DRUG cured my <a>|my <a> is under control w/ DRUG|"
    "<a> ruled out, continue DRUG|<a> w/u negative, stay on DRUG|"
    "<a> + DRUG, tolerating, f/u 3 mo|<a> pt asks about DRUG|<a>, on DRUG x 5 yrs, stable|"
    "DRUG vs DRUG for <a>?|switch DRUG to DRUG for <a>|DRUG dose for <a>?|"
    "<a> dx 2019, DRUG since|was on DRUG for <a>, now on DRUG|does DRUG help w/ <a>|"
    "worried about <a> on DRUG|<a> prior to DRUG, none since|my WHO has <a> and takes DRUG|"
    "WHO w/ <a>, pt on DRUG, well|labs ok on DRUG, LFTs nl|LFTs ok, Cr stable, DRUG cont|"
    "CBC and BMP wnl on DRUG|DRUG 50 BID, BP 120/80, HR 70|ED visit for refill of DRUG|"
    "seen in ED, DRUG given, home|PE: unremarkable, cont DRUG|PE wnl|EM physician gave DRUG|"
    "OH: no alcohol, DRUG daily|CXR clear, EKG nl, DRUG cont|VS stable, NAD, A&O x3 on DRUG|"
    "PFTs and DLCO at baseline on DRUG|echo nl, EF 60% on DRUG|DRUG PO QD, DRUG PRN, DRUG IM|"
    "PMD to refill DRUG"
).split("|")

SHORTENED = (
    "ASA|APAP|NSAIDs|ACEi|ARB|BB|CCB|HCTZ|MTX|AZA|MMF|tac|CsA|5-FU|6-MP|FOLFOX|R-CHOP|ICI|TKI|"
    "pembro|nivo|ipi|SSRI|SNRI|TCA|MAOI|Li|VPA|CBZ|LTG|LEV|PHT|OXC|TPM|OCP|the pill|Depo|HRT|T|"
    "GH|TMP-SMX|amox-clav|pip-tazo|vanc|gent|cipro|levo|azithro|doxy|flagyl|INH|RIF|EMB|PZA|"
    "HAART|TDF|AZT|IFN|IVIG|PRBC|FFP|contrast|abx|pred|dex|solumedrol|ICS|LABA|SABA|PPI|H2RA|"
    "GLP-1|SGLT2i|DPP-4i|SU|MTF|LMWH|UFH|DOAC|tPA|clopi|amio|dig|dilt|metop|simva|atorva|rosuva|"
    "allopurinol|colchicine|FeSO4|KCl|NTG|Lasix|spiro|Zofran|Reglan|haldol|olanz|quet|risp|cloz|"
    "zipras|LAI|benzos|Ativan|PCA|fent|hydromorphone|oxy|bup|NTX|MTD|BoNT|MMR|Tdap|flu shot|"
    "the booster|COVID vax|Pfizer #2"
).split("|")
"""Drugs, classes of drugs and vaccines as notes shorten them, which look like reactions."""

SHORTENED_SHARE = 0.35

SILENT_SHARE = 0.38

FINDINGS_SHARE = 0.22
"""The share of notes that are lists of findings, each present or absent."""

OTHERS_SHARE = 0.16
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
    "|||DRUG day 3: |Since DRUG: |ROS on DRUG: |On DRUG, |Review of systems: |"
    "Toxicity, cycle 2: |Checklist after DRUG: |Day 9, DRUG: |Exam on DRUG: |Post vaccine: |"
    "Side effects of DRUG: "
).split("|")
ENDINGS = "||||| on DRUG| after DRUG| (DRUG)| since DRUG was added|, DRUG day 6".split("|")

OTHERS = (
    "My WHO had <a> on it, I only got [a].|My WHO had <a>, I had [a].|"
    "I had [a], my WHO had none.|I had [a], my WHO had <a>.|[a] after DRUG, WHO had <a>|"
    "My WHO takes it for <a>. I got [a].|my WHO was fine on it, i got [a] and [a]|"
    "Everyone warned me of <a>, what I got was [a].|Never had <a>, but [a] since DRUG.|"
    "no <a> this time, [a] instead|Not <a> but [a].|No <a> at all. [a] though.|"
    "<a> is gone since DRUG, now I have [a]|No more <a>, just [a].|"
    "My WHO got <a> from DRUG, mine was [a].|The leaflet says <a>; I have [a].|"
    "Neither <a> nor <a>.|My WHO had <a> on it, I am fine.|<a>? No. [a]? Yes, since DRUG.|"
    "My WHO and I both take DRUG; WHO has <a>, I have [a].|Denies <a>, <a>. Reports [a].|"
    "Also mentioned [a] and [a].|They said DRUG may cause <a>, well, I have [a]|"
    "DRUG: [a]. Before that, <a>.|I had <a> long before DRUG, the [a] is new.|"
    "DRUG helped my <a> and gave me [a].|Neither <a> nor <a>. [a], though, ever since DRUG.|"
    "No new <a>; [a] since DRUG was added.|My WHO stopped it over <a>, I never had any.|"
    "my WHO has <a> on it, me, just [a]|WHO: <a>. Me: [a].|"
    "I kept waiting for <a>, but it was [a] that came.|No <a>, no <a>, [a] after DRUG|"
    "no <a>, but [a] for days after DRUG|DRUG for <a>: works, but [a].|"
    "Without <a>, with [a]: DRUG.|<a> from another drug, [a] from DRUG|"
    "they said it might give me <a>, well it gave me [a]|"
    "allergic to DRUG, [a] as a kid, and to nothing else|DRUG / [a] / 2012 / avoid|"
    "DRUG [a], DRUG [a], DRUG declined|intolerant of DRUG - [a], DRUG - [a], DRUG ok|"
    "DRUG gives me [a], DRUG does not|DRUG causes [a], DRUG causes [a], DRUG is fine|"
    "DRUG: [a]; DRUG: tolerated; DRUG: [a]|cannot take DRUG ([a]) or DRUG ([a], [a])"
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
        frame = draw.choice(OTHERS)
        names = [*own_conditions().symptoms, *own_conditions().serious]
    else:
        frame = draw.choice(SILENT if draw.random() < SILENT_SHARE else REACTED)
    frame = frame.replace("WHO", draw.choice(WHO))
    while "DRUG" in frame:
        frame = frame.replace("DRUG", _drug(draw), 1)
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


def _drug(draw: random.Random) -> str:
    """Return the name of a drug, or one as notes shorten it."""
    return draw.choice(SHORTENED) if draw.random() < SHORTENED_SHARE else drug(draw)


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
