"""The providers of models, by name. Where none is named, their keys are looked for in this order."""

from collections.abc import Mapping

from alphaagent.llm.provider import Provider
from alphaagent.llm.providers import anthropic, deepseek, gemini, ollama, openai, openai_compatible, openrouter

PROVIDERS: Mapping[str, Provider] = {
    "anthropic": anthropic.PROVIDER,
    "openai": openai.PROVIDER,
    "gemini": gemini.PROVIDER,
    "openrouter": openrouter.PROVIDER,
    "deepseek": deepseek.PROVIDER,
    "ollama": ollama.PROVIDER,
    "openai-compatible": openai_compatible.PROVIDER,
}
