"""A callable that tags batches of tables, for pipelines of Ray or Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discotag.corpora.tables.parquet import import_arrow
from discotag.errors import InputError
from discotag.prediction.wanted import Wanted
from discotag.scale.columns import MENTIONS, SPARK_MENTIONS, mention_values, mentions_type
from discotag.words import Splitter

if TYPE_CHECKING:
    from discotag.prediction.tagger import Tagger


class TagBatches:
    """Finds the mentions of batches of texts, and adds them as a column.

    It is small and can be pickled: the model is loaded with the first batch, once in a process. The
    column of mentions has, for each row, a list of mentions with `label`, `text`, `spans`
    (characters), `fragments` (words) and `score`, always of the same type.

    Args:
        text_column: The name of the column with the texts. Missing values are empty texts.
        mentions_column: The name of the column to add.
        model: A folder, which must exist in all processes, or a name on the Hugging Face hub; by
            default, the bundled model.
        runtime: As in `discotag.load`.
        device: As in `discotag.load`.
        splitter: Splits texts into sentences and words.
        wanted: What is wanted of the model. There are no candidates.
        options: Fields of `discotag.prediction.Wanted`, such as `min_score`, instead of those of
            `wanted`.

    Raises:
        InputError: If an argument is out of range.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"id": [7], "comment": ["I had swollen knees."]})
        >>> TagBatches("comment")(frame)["mentions"][0][0]["text"]
        'swollen knees'
    """

    def __init__(
        self,
        text_column: str = "text",
        *,
        mentions_column: str = MENTIONS,
        model: str | Path | None = None,
        runtime: str | None = None,
        device: str | None = None,
        splitter: Splitter | None = None,
        wanted: Wanted | None = None,
        **options: Any,
    ) -> None:
        self.text_column = text_column
        self.mentions_column = mentions_column
        self._model = (None if model is None else str(model), runtime, device, splitter)
        self._wanted = Wanted.made(wanted, {**options, "candidates": False})

    def __call__(self, batch: Any) -> Any:
        """Return a batch with a column of mentions added.

        Args:
            batch: A table of pyarrow, a data frame of pandas, or a dictionary of columns (lists or
                arrays of NumPy), as `ray.data.Dataset.map_batches` gives them.

        Returns:
            The same kind of batch; the given one is not changed. In a dictionary, the column of
            mentions is an array of Arrow, whose type does not depend on the batch.

        Raises:
            InputError: The batch is something else, has no column of texts, or has a column with
                the name of that of mentions.
        """
        is_table = hasattr(batch, "append_column")
        if not is_table and not isinstance(batch, dict) and not hasattr(batch, "assign"):
            raise InputError(
                f"a batch is a table of pyarrow, a data frame of pandas or a dictionary of "
                f"columns; got {type(batch).__name__}"
            )
        self._check(batch.column_names if is_table else list(batch))
        texts = batch[self.text_column]
        if is_table:
            return batch.append_column(self.mentions_column, self._column(texts.to_pylist()))
        if isinstance(batch, dict):
            return {**batch, self.mentions_column: self._column(texts)}
        return batch.assign(**{self.mentions_column: self._found(texts)})

    def frames(self, frames: Iterable[Any]) -> Iterator[Any]:
        """Yield data frames with mentions, for `mapInPandas` of Spark.

        Example:
            >>> tag = TagBatches("comment")
            >>> found = posts.mapInPandas(tag.frames, tag.spark_schema(posts))  # doctest: +SKIP
        """
        return map(self, frames)

    def spark_schema(self, frame: Any) -> str:
        """Return the schema of a data frame of Spark with mentions, as Spark writes it.

        Args:
            frame: The data frame that is tagged.
        """
        self._check([field.name for field in frame.schema.fields])
        fields = [
            f"{_quoted(field.name)} {field.dataType.simpleString()}"
            for field in frame.schema.fields
        ]
        return ", ".join([*fields, f"{_quoted(self.mentions_column)} {SPARK_MENTIONS}"])

    def _check(self, names: Sequence[Any]) -> None:
        if self.text_column not in names:
            raise InputError(
                f"no column named {self.text_column!r}; columns are {', '.join(map(str, names))}"
            )
        if self.mentions_column in names:
            raise InputError(
                f"there is a column named {self.mentions_column!r} already; choose another "
                "mentions_column"
            )

    def _found(self, texts: Iterable[Any]) -> list[list[dict[str, Any]]]:
        tagger = _loaded(*self._model)
        given = (each.item() if isinstance(each, np.generic) else each for each in texts)
        found = tagger.predict(given, self._wanted)
        return [mention_values(each.mentions) for each in found]

    def _column(self, texts: Iterable[Any]) -> Any:
        arrow = import_arrow("tables of")
        return arrow.array(self._found(texts), mentions_type())


@lru_cache(maxsize=1)
def _loaded(
    model: str | None, runtime: str | None, device: str | None, splitter: Splitter | None
) -> Tagger:
    """Return the tagger of this process."""
    from discotag.prediction.loading import load

    return load(model, runtime=runtime, device=device, splitter=splitter)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
