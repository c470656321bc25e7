"""The guard's rules, one a file; `alphaagent.guard.registry` lists them in order."""
