"""Anthropic. The default model takes a temperature, which its successors refuse."""

from alphaagent.llm.provider import Provider

PROVIDER = Provider(
    name="anthropic",
    route="anthropic",
    key_variables=("ANTHROPIC_API_KEY",),
    default_model="claude-sonnet-4-6",
    base_url="https://api.anthropic.com",
    extra="anthropic",
)
