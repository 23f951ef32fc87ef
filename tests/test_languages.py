"""Find out whether text is in another language than a model expects."""

import sys

import pytest

from discotag.languages import SAMPLE, other_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("J'ai eu mal à la tête et des nausées.", "fr"),
        ("Ich hatte Kopfschmerzen und Übelkeit.", "de"),
        ("Tuve dolor de cabeza y náuseas.", "es"),
        ("服药后出现头痛和恶心。", "zh"),
        ("頭痛がひどくて、眠れませんでした。", "ja"),
        ("Сильная головная боль и тошнота.", "ru"),
        ("صداع شديد وغثيان بعد الجرعة", "ar"),
    ],
)
def test_languages(text, language):
    assert other_language([text], "en") == language
    assert other_language([text], language) is None
    assert other_language([text], f"{language}-XX") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12/10, 3 mg",
        "rash",
        "N/V/D, HA",
        "Propofol OK, rocuronium anaphylaxis, sugammadex OK",
        "Pt c/o tinnitus & epigastric pain, taking aspirin TID",
        "couldnt sleep lol zoloft sux",
    ],
)
def test_what_is_not_certainly_in_another_language(text):
    assert other_language([text], "en") is None


def test_a_language_that_is_not_known_is_not_judged():
    assert other_language(["Ich hatte Kopfschmerzen und Übelkeit."], "xx") is None


def test_only_the_beginning_is_read():
    def texts():
        yield "I had a severe headache after the second dose. " * (SAMPLE // 40)
        raise AssertionError

    assert other_language(texts(), "en") is None


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "py3langid", None)
    assert other_language(["Ich hatte Kopfschmerzen und Übelkeit."], "en") is None
