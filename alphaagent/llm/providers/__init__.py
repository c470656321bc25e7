"""The providers, one a file; `alphaagent.llm.registry` lists them in order."""
