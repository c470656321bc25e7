"""OpenAI. The default model takes a temperature, which the reasoning models refuse."""

from alphaagent.llm.provider import Provider

PROVIDER = Provider(
    name="openai",
    route="openai",
    key_variables=("OPENAI_API_KEY",),
    default_model="gpt-4.1-mini",
    base_url="https://api.openai.com/v1",
    cap_field="max_completion_tokens",
)
