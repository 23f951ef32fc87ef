"""What requests and errors of both applications have in common, as pydantic models."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator

from discotag.web.errors import shown


class Body(BaseModel):
    """A JSON object without unknown fields."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: object) -> object:
        """Report the first field that is unknown; pydantic would report all of them."""
        unknown = given.keys() - cls.model_fields.keys() if isinstance(given, dict) else ()
        if unknown:
            raise ValueError(f"there is no field {shown(min(unknown))!r}")
        return given


class ErrorFacts(BaseModel):
    """A code for programs, and a sentence for people; perhaps further fields."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str


class ErrorAnswer(BaseModel):
    """Why a request was not answered."""

    error: ErrorFacts
