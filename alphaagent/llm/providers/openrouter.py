"""OpenRouter, which passes requests on to many providers. It asks callers to say which application they are."""

from types import MappingProxyType

from alphaagent.llm.provider import Provider

PROVIDER = Provider(
    name="openrouter",
    route="openai",
    key_variables=("OPENROUTER_API_KEY",),
    default_model="openai/gpt-4.1-mini",
    base_url="https://openrouter.ai/api/v1",
    headers=MappingProxyType({"HTTP-Referer": "https://github.com/alphaagent/alphaagent", "X-Title": "AlphaAgent"}),
)
