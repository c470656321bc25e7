"""Ollama, on this machine unless told otherwise. Which models it has is its owner's choice, so one must be named."""

from alphaagent.llm.provider import Provider

PROVIDER = Provider(
    name="ollama",
    route="openai",
    key_variables=(),
    default_model=None,
    base_url="http://localhost:11434/v1",
    is_free=True,
)
