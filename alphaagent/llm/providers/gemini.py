"""Google Gemini with an API key (not Vertex). The default is the newest flash model that is not a preview."""

from alphaagent.llm.provider import Provider

PROVIDER = Provider(
    name="gemini",
    route="gemini",
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    default_model="gemini-3.8-flash",
    base_url="https://generativelanguage.googleapis.com/",
    extra="gemini",
)
