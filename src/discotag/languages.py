"""Find out whether text is in another language than a model expects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SAMPLE: Final = 4000
"""The number of characters that are looked at."""

MARGIN: Final = 20.0
"""How much larger the log probability of another language must be. Of 3,243 short texts in English,
from posts and clinical notes, none exceeds it, but for two that are mostly Latin names."""

NAMES: Final = frozenset({"la"})
"""Languages that are not reported, since names of drugs and conditions look like them: Latin."""


def other_language(texts: Iterable[str], language: str) -> str | None:
    """Return the language of some texts if it is certainly not the one expected, otherwise None.

    Args:
        texts: The texts; the first `SAMPLE` characters are looked at.
        language: The code of the language that is expected, such as `en`.

    Returns:
        A code, such as `de`.

    Example:
        >>> other_language(["Ich hatte Kopfschmerzen und Übelkeit."], "en")
        'de'
        >>> other_language(["I had headaches and nausea."], "en")
    """
    sample, length = [], 0
    for text in texts:
        sample.append(text[: SAMPLE - length])
        length += len(sample[-1])
        if length >= SAMPLE:
            break
    if not length:
        return None
    try:
        import py3langid
    except ImportError:  # a Python without lzma, which it needs
        return None
    found = dict(py3langid.rank("\n".join(sample)))
    likely = max(found.keys() - NAMES, key=lambda code: found[code])
    expected = found.get(language.split("-")[0].lower())
    if expected is None or found[likely] - expected <= MARGIN:
        return None
    return str(likely)
