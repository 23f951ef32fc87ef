"""Checks the package as it was installed from its wheel; run by `make wheel`, outside of the clone.

It must not need anything of the repository, nor what only the extras install.
"""

import subprocess
import sys
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import discotag

ENVIRONMENT = Path(sys.prefix).resolve()
LICENCES = {"LICENSE", "NOTICE.txt", "WORDNET_LICENSE.txt"}
FILES = {
    "py.typed",
    "bundled/mention_scorer.onnx",
    "bundled/model_int8.onnx",
    "bundled/tokenizer.json",
    "bundled/config.json",
    "lexicon/wordnet_body.tsv",
    "render/drawing.js",
    "web/assets/common.js",
    "serve/assets/try.html",
    "annotate/assets/annotate.js",
}
TEXT = "The pain I was experiencing around the hipjoints was incredible."


def main() -> None:
    """Fail at the first thing that is missing or wrong."""
    package = Path(discotag.__file__).resolve().parent
    assert package.is_relative_to(ENVIRONMENT), f"discotag was imported from {package}"
    missing = {name for name in FILES if not (package / name).is_file()}
    assert not missing, f"the wheel has no {missing}"
    installed = distribution("discotag")
    assert installed.version == discotag.__version__
    licences = {file.name for file in installed.files or () if "licenses" in file.parts}
    assert licences == LICENCES, f"the wheel has the licences {licences}"
    extra = {"torch", "transformers", "tests", "benchmarks"} & packages_distributions().keys()
    assert not extra, f"the wheel brings {extra}"

    (document,) = discotag.load()([TEXT])
    (mention,) = document.mentions
    assert mention.text == "pain hipjoints", mention
    command = [ENVIRONMENT / "bin" / "discotag", "predict", TEXT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ADR" in done.stdout, done.stdout
    print(f"discotag {installed.version} works from its wheel: {len(installed.files or ())} files")


if __name__ == "__main__":
    main()
