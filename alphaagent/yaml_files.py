"""YAML read so that nothing is guessed: repeated keys are refused, `on` and `no` stay strings, and decimals never pass through binary floats.

What stands in a file is kept by its content: a process that opens the configuration again and again reads the same bytes once.
"""

import io
import re
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from alphaagent.errors import ConfigFault

KEPT_DOCUMENTS = 64

# The C parser reads the lexicon ten times faster; its absence changes nothing but the time.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StrictLoader(_Loader):  # type: ignore[misc,valid-type]
    """YAML in which a key stands once, only true and false are booleans, a whole number is decimal, and one with a point is a Decimal."""


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:int", "tag:yaml.org,2002:timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_StrictLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_StrictLoader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789"))


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = str(loader.construct_object(key_node, deep=True))
        if key in mapping:
            raise ConfigFault(f"{loader.name}: the key {key} stands twice (line {key_node.start_mark.line + 1})", fix="keep one of them")
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


def _decimal(loader: _StrictLoader, node: yaml.ScalarNode) -> Decimal | str:
    text = str(loader.construct_scalar(node))
    try:
        return Decimal(text)
    except ArithmeticError:
        return text


_StrictLoader.add_constructor("tag:yaml.org,2002:map", _mapping)
_StrictLoader.add_constructor("tag:yaml.org,2002:float", _decimal)


class _TextLoader(_StrictLoader):
    """The same with every value the text that stands there, except nothing at all, which is written null."""


_NULL = ("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|)$"))
_TextLoader.yaml_implicit_resolvers = {first: [_NULL] for first in ("~", "n", "")}


class _Document(io.BytesIO):
    """The bytes of a file, which faults name."""

    name = ""


@lru_cache(maxsize=KEPT_DOCUMENTS)
def _parsed(raw: bytes, name: str, texts: bool) -> Any:
    stream = _Document(raw)
    stream.name = name
    loader = (_TextLoader if texts else _StrictLoader)(stream)
    loader.name = name
    return loader.get_single_data()


def _copied(value: Any) -> Any:
    """A document that its reader may change without changing what is kept."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def read_yaml(path: Path, *, texts: bool = False) -> dict[str, Any]:
    """A YAML file's mapping; with `texts`, of text alone: for names, which may be 1E5, TRUE or NULL. Raises ConfigFault with file and line."""
    try:
        document = _copied(_parsed(path.read_bytes(), str(path), texts))
    except (yaml.YAMLError, ValueError) as fault:
        raise ConfigFault(f"{path} is no valid YAML: {' '.join(str(fault).split())}", fix="correct the file") from None
    except FileNotFoundError:
        raise ConfigFault(f"{path} does not exist", fix="name an existing file") from None
    except OSError as fault:
        raise ConfigFault(f"{path} cannot be read: {fault.strerror}", fix="check the file's permissions") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigFault(f"{path} must hold keys and values", fix="see the shipped file of the same name")
    return document
