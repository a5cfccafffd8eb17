"""Numbers in messages: one type for every dialect, so that NaN, infinity and booleans are refused everywhere."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from sandbox_runtime.quantities import parse_number, parse_whole

Number = Annotated[float, BeforeValidator(lambda value: parse_number(value)), Field(allow_inf_nan=False)]
"""A finite number. Decimal text is taken for one, as clients send it; booleans are not."""
WholeNumber = Annotated[int, BeforeValidator(lambda value: parse_whole(value))]
