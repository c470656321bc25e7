"""The wire forms of replies, one a file, by the route of the providers that use them."""

from collections.abc import Mapping

from alphaagent.llm.dialect import Dialect
from alphaagent.llm.dialects import anthropic, gemini, openai
from alphaagent.llm.provider import Route

DIALECTS: Mapping[Route, Dialect] = {
    "openai": openai.DIALECT,
    "anthropic": anthropic.DIALECT,
    "gemini": gemini.DIALECT,
}
