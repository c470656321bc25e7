"""DeepSeek. The older names `deepseek-chat` and `deepseek-reasoner` ended in July 2026."""

from alphaagent.llm.provider import Provider

PROVIDER = Provider(
    name="deepseek",
    route="openai",
    key_variables=("DEEPSEEK_API_KEY",),
    default_model="deepseek-v4-flash",
    base_url="https://api.deepseek.com/v1",
)
