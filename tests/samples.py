"""A small real file of each format."""

from pathlib import Path

DATA = Path(__file__).parent / "data"

SAMPLES = {
    DATA / "knowtator/annotations/case1.txt.knowtator.xml": "knowtator",
    DATA / "knowtator/annotations/case1.xml": "knowtator",
    DATA / "bioc/posts.xml": "bioc-xml",
    DATA / "bioc/posts.json": "bioc-json",
    DATA / "bigbio/posts.jsonl": "bigbio",
    DATA / "jsonl/three.jsonl": "jsonl",
    DATA / "brat/good/joints.ann": "brat",
    DATA / "brat/good/ward/windows.ann": "brat",
    DATA / "w2ner/two.json": "w2ner",
    DATA / "inline/two.txt": "inline",
    DATA / "conll/documents.conll": "conll",
    DATA / "conll/bioes.tsv": "conll",
    DATA / "conll/iob1.conll": "conll",
}
