"""What clients send and get, as pydantic models; OpenAPI describes them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from discotag.corpora import FORMATS
from discotag.corpora.formats.registry import TABLES
from discotag.described import UNBOUNDED, describe
from discotag.prediction.wanted import Wanted
from discotag.web.downloads import format_names
from discotag.web.errors import ServiceError
from discotag.web.protection import invalid
from discotag.web.schemas import Body

INPUTS: Final = ("text", "texts", "words", "sentences")
"""The fields with input, of which a request has exactly one."""

WANTED: Final = ("labels", "min_score", "bias", "alternatives", "candidates")
"""The fields that are options of `Wanted`; the size of batches is up to the service."""

MOST_ALTERNATIVES: Final = 10
"""The most alternatives of a sentence; finding k of them takes k times the memory."""

EXPORTS: Final = tuple(format_names())
"""The formats of downloads."""

R = TypeVar("R", bound="PredictRequest")

Strings = Annotated[list[str], FailFast()]
"""A list of which only the first error is reported: millions of them would take minutes."""


def _field(name: str, *default: Any, **more: Any) -> Any:
    """Return the field for an option of `Wanted`.

    Args:
        name: The name of the option.
        default: Another default than that of the option.
        more: Other arguments of pydantic's `Field`.
    """
    option = describe(Wanted)[name]
    bounds = {"ge": option.least, "le": option.most}
    finite = {key: value for key, value in bounds.items() if abs(value) != UNBOUNDED}
    given = default or (getattr(Wanted(), name),)
    return Field(*given, description=option.help, **(finite | more))


class PredictRequest(Body):
    """What to tag, and how: exactly one of `text`, `texts`, `words` and `sentences`."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        json_schema_extra={
            "oneOf": [{"required": [name]} for name in INPUTS],
            "example": {"text": "The pain I was experiencing around the hipjoints was bad."},
        },
    )

    text: str = Field("", description="A text.")
    texts: Strings = Field([], description="Several texts; the answer has a document for each.")
    words: Strings = Field([], description="The words of a sentence.")
    sentences: Annotated[list[Strings], FailFast()] = Field(
        [], description="The words of several sentences; the answer has a document for each."
    )
    model: str | None = Field(None, description="The name of a model; by default, the first one.")
    labels: Strings = _field("labels", [])
    min_score: float = _field("min_score")
    bias: float = _field("bias")
    alternatives: int = _field("alternatives", le=MOST_ALTERNATIVES)
    candidates: bool = _field("candidates", False)
    tags: bool = Field(False, description="Also return the tag of each word.")
    draw: bool = Field(False, description="Also return what the page draws.")

    @field_validator("alternatives", mode="before")
    @classmethod
    def _take_whole_number(cls, value: object) -> object:
        """Take 3.0 as 3, as JSON Schema does."""
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @model_validator(mode="after")
    def _check_inputs(self) -> Self:
        given = [name for name in INPUTS if name in self.model_fields_set]
        if len(given) != 1:
            found = f"got {' and '.join(given)}" if given else "got none of them"
            raise ValueError(f"give exactly one of {', '.join(INPUTS)}; {found}")
        return self

    @property
    def wanted(self) -> Wanted:
        """What is wanted of the model."""
        return Wanted(**{name: getattr(self, name) for name in WANTED})

    @property
    def items(self) -> list[Any]:
        """The texts, or the lists of words."""
        if "text" in self.model_fields_set:
            return [self.text]
        if "words" in self.model_fields_set:
            return [self.words]
        return self.texts or self.sentences


class ExportRequest(PredictRequest):
    """What to tag, and the format of the file to write."""

    format: Annotated[str, Field(json_schema_extra={"enum": list(EXPORTS)})] = Field(
        description="The format of the file."
    )

    @model_validator(mode="after")
    def _check_format(self) -> Self:
        if self.format not in EXPORTS:
            raise ValueError(f"format must be one of {', '.join(EXPORTS)}")
        if self.candidates and not FORMATS[self.format].keeps_details:
            raise ValueError(
                f"{self.format} cannot mark candidates; use jsonl, {TABLES}, or leave "
                "out candidates"
            )
        return self


class FoundMention(BaseModel):
    """A mention."""

    label: str
    text: str
    spans: list[tuple[int, int]] | None = Field(
        None, description="The characters of each fragment; if a text was given."
    )
    fragments: list[tuple[int, int]] = Field(description="The words of each fragment.")
    score: float | None = Field(None, description="The probability that the mention is right.")


class FoundSentence(BaseModel):
    """A sentence: its words, and where it is in the text."""

    words: list[str]
    start: int | None = None
    end: int | None = None
    starts: list[int] | None = Field(None, description="The first character of each word.")


class FoundReading(BaseModel):
    """A reading of a sentence, that is, one possible set of its mentions."""

    probability: float
    mentions: list[FoundMention]


class FoundDocument(BaseModel):
    """What was found in a text, or in a sentence of words."""

    text: str | None = None
    mentions: list[FoundMention]
    candidates: list[FoundMention] | None = Field(
        None, description="What a person should look at besides the mentions; if any."
    )
    sentences: list[FoundSentence]
    alternatives: list[list[FoundReading]] | None = Field(
        None, description="For each sentence, its most probable readings."
    )
    tags: list[list[str] | None] | None = Field(
        None, description="For each sentence, the tags; null if no tags encode its mentions."
    )
    drawings: list[dict[str, Any]] | None = None


class PredictAnswer(BaseModel):
    """The documents, in the order of the request."""

    model: str
    documents: list[FoundDocument]
    labels: list[str] | None = Field(None, description="All labels; if drawings were asked for.")


class ModelFacts(BaseModel):
    """What a model finds, and how."""

    name: str
    labels: list[str]
    slots: int
    naming: str
    gap_mentions: bool
    runtime: str
    language: str | None
    description: str | None
    guarantee: str | None = Field(None, description="What mentions and candidates find at least.")


class ModelsAnswer(BaseModel):
    """The models of the service; the first is the default."""

    models: list[ModelFacts]


class StatusAnswer(BaseModel):
    """The state of the service."""

    status: str


def parsed(kind: type[R], content_type: str | None, body: bytes) -> R:
    """Return the request in a body.

    Args:
        kind: The class of the request.
        content_type: The value of this header.
        body: The body.

    Raises:
        ServiceError: The body is not JSON (400, 415), or not such a request (422).
    """
    media = (content_type or "").partition(";")[0].strip().lower()
    if media != "application/json" and not media.endswith("+json"):
        raise ServiceError(
            415, "not_json", "send JSON, with the header Content-Type: application/json"
        )
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        is_json = found[0]["type"] != "json_invalid"
        raise invalid(found, 422 if is_json else 400) from None
