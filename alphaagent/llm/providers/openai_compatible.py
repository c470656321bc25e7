"""Any other server that speaks chat completions. Endpoint and model must be given; a key only where the server wants one."""

from alphaagent.llm.provider import Provider

PROVIDER = Provider(
    name="openai-compatible",
    route="openai",
    key_variables=(),
    default_model=None,
    base_url=None,
)
