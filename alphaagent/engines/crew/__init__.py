"""The crew: three CrewAI agents over one frozen pack of evidence."""
