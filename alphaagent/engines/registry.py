"""The decision engines of this version, by name; each is made when it is asked for."""

from collections.abc import Callable, Mapping

from alphaagent.engines.heuristic.engine import HeuristicEngine
from alphaagent.ports import DecisionEngine

ENGINES: Mapping[str, Callable[[], DecisionEngine]] = {
    "heuristic": HeuristicEngine,
}
