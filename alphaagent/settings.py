"""config/*.yaml and the environment become one frozen Settings; this is the only reader of os.environ.

A file that the user does not have comes from the defaults that ship with the package.
"""

import atexit
import difflib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError

from alphaagent.domain.base import Frozen
from alphaagent.domain.lots import LotMethod
from alphaagent.errors import ConfigFault
from alphaagent.yaml_files import read_yaml

PROVIDERS = ("openai", "anthropic", "gemini", "openrouter", "deepseek", "ollama", "openai-compatible", "none")
VARIABLES = (
    "ALPHAAGENT_LLM_PROVIDER",
    "ALPHAAGENT_LLM_MODEL",
    "ALPHAAGENT_LLM_BASE_URL",
    "ALPHAAGENT_LLM_API_KEY",
    "ALPHAAGENT_LLM_TEMPERATURE",
    "ALPHAAGENT_LLM_TIMEOUT_SECONDS",
    "ALPHAAGENT_DATABASE_URL",
    "ALPHAAGENT_DATA",
    "ALPHAAGENT_HOME",
    "ALPHAAGENT_CONFIG",
    "ALPHAAGENT_HALT",
    "ALPHAAGENT_DAILY_SPEND_USD",
    "ALPHAAGENT_REFERENCE_DATA",
)
NOTIFY = "ALPHAAGENT_NOTIFY_"
"""How the variables begin that hold addresses for notifications; config/notify.yaml names them."""
DAILY_SPEND = "ALPHAAGENT_DAILY_SPEND_USD"
NUMBERS = {"ALPHAAGENT_LLM_TEMPERATURE": (0, 2), "ALPHAAGENT_LLM_TIMEOUT_SECONDS": (1, 3600), DAILY_SPEND: (0, 1_000_000)}
"""Variables that hold a number, with what they may be at least and at most; they are checked even where no model is called."""
CONFIG_FILES = ("lexicon", "agents", "tasks", "debate", "prices", "vendors", "feeds", "instruments", "schedule")
OF_TEXT = ("instruments.yaml",)
"""Files in which every value is a text: a ticker may be TRUE or 1E5."""
PLAIN_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
PACKAGE = Path(__file__).parent


DataMode = Literal["snapshot", "live"]


class PortfolioSettings(Frozen):
    starting_cash: Decimal = Field(Decimal(100_000), gt=0, le=1_000_000_000)
    mandate: str = "default"
    lot_method: LotMethod = "fifo"


class ExecutionSettings(Frozen):
    slippage_bps: Decimal = Field(Decimal(5), ge=0, le=500)
    fee_bps: Decimal = Field(Decimal(1), ge=0, le=500)


class SlotSettings(Frozen):
    wait_seconds: Decimal = Field(Decimal(60), ge=0, le=3600)


class DataSettings(Frozen):
    own_prices: str | None = None
    contact: str | None = Field(None, max_length=200, pattern=r"^[ -?A-~]*[!-?A-~]@[!-?A-~]+\.[!-?A-~]+[ -~]*$")
    second_source: Literal["own", "stooq"] | None = None


class DashboardSettings(Frozen):
    allow_halt: bool = False


class ModelSettings(Frozen):
    """What the environment says about models: one block for every agent."""

    provider: str | None = None
    """None: not named. `none`: the operator chose to run without a model."""
    model: str | None = None
    base_url: str | None = None
    temperature: Decimal | None = None
    call_seconds: Decimal | None = None
    keys: dict[str, SecretStr] = Field(default_factory=dict)
    """Every variable that is named like a key and is not empty."""
    daily_spend: Decimal | None = Decimal(5)
    """The ceiling in USD on a UTC day; None for none."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing here leads to a model."""
        return self.provider == "none" or (self.provider is None and self.base_url is None and not self.keys)

    def key(self, names: Iterable[str]) -> str | None:
        """The first of these variables that is set."""
        return next((self.keys[name].get_secret_value() for name in names if name in self.keys), None)


class FileSettings(Frozen):
    """The shape of config/alphaagent.yaml."""

    portfolio: PortfolioSettings = PortfolioSettings()
    execution: ExecutionSettings = ExecutionSettings()
    slots: SlotSettings = SlotSettings()
    data: DataSettings = DataSettings()
    dashboard: DashboardSettings = DashboardSettings()


class ConfigFile(Frozen):
    """One YAML document and where it came from, for messages."""

    path: Path
    document: dict[str, Any]


class Settings(FileSettings):
    """Everything that configures a run."""

    home: Path
    config_source: Path
    snapshot: Path | None
    """None where no snapshot is found; only what reads prices needs one."""
    database_url: str
    allow_fallback: bool
    models: ModelSettings
    data_mode: DataMode
    own_prices: Path | None
    """A folder of own price files; None where none is configured."""
    archive: Path
    """Where live data are kept."""
    halt_variable: bool
    halt_file: Path
    mandates: ConfigFile
    lexicon: ConfigFile
    agents: ConfigFile
    tasks: ConfigFile
    debate: ConfigFile
    prices: ConfigFile
    vendors: ConfigFile
    feeds: ConfigFile
    instruments: ConfigFile
    notify: ConfigFile
    schedule: ConfigFile
    notify_urls: dict[str, SecretStr]
    """Addresses for notifications, by the variable that holds them."""
    portfolios: Path
    """The folder of the portfolios that are swept."""


def load_settings(environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> Settings:
    """The settings of this process. Raises ConfigFault that names the variable or the file and key."""
    env = os.environ if environ is None else environ
    _refuse_unknown_variables(env)
    _refuse_unusable_numbers(env)
    here = cwd or Path.cwd()
    home = _folder(env, "ALPHAAGENT_HOME", here, base=here)
    config = _folder(env, "ALPHAAGENT_CONFIG", home / "config", base=home)
    main = _config_file(config, "alphaagent.yaml")
    files = _validated(FileSettings, main)
    notify = _config_file(config, "notify.yaml")
    return Settings(
        **files,
        home=home,
        config_source=main.path.parent,
        snapshot=_snapshot(home),
        database_url=_database_url(env, home),
        allow_fallback=_boolean(env, "ALLOW_HEURISTIC_FALLBACK", default=True),
        models=_models(env),
        data_mode=_data(env),
        own_prices=_own_prices(files["data"].own_prices, home, main.path),
        archive=home / "data" / "live" / "archive.db",
        halt_variable=_boolean(env, "ALPHAAGENT_HALT", default=False),
        halt_file=home / "data" / "HALT",
        mandates=_config_file(config, "mandate.yaml"),
        notify=notify,
        notify_urls=_notify_urls(env, notify),
        portfolios=_portfolios(config),
        **{name: _config_file(config, f"{name}.yaml") for name in CONFIG_FILES},
    )


def defaults_folder() -> Path:
    """Where the shipped configuration and snapshot stand: inside an installed package, or beside it in a checkout."""
    packaged = PACKAGE / "_defaults"
    return packaged if packaged.is_dir() else PACKAGE.parent


def nearest(name: str, valid: tuple[str, ...] | list[str]) -> str:
    """` (did you mean X?)`, or nothing where no valid name is near."""
    close = difflib.get_close_matches(name, valid, n=1)
    return f"; did you mean {close[0]}?" if close else f"; valid: {', '.join(sorted(valid))}"


def _refuse_unknown_variables(env: Mapping[str, str]) -> None:
    for name in env:
        if name.startswith("ALPHAAGENT_") and name not in VARIABLES and not name.startswith(NOTIFY):
            raise ConfigFault(f"the environment variable {name} is unknown{nearest(name, list(VARIABLES))}", fix=f"unset {name} or correct its name")


def _refuse_unusable_numbers(env: Mapping[str, str]) -> None:
    for name, (least, most) in NUMBERS.items():
        text = env.get(name)
        if text is None or (text == "off" and name == DAILY_SPEND):
            continue
        if not PLAIN_NUMBER.fullmatch(text) or not least <= Decimal(text) <= most:
            raise ConfigFault(f"{name} is {text!r}, which is no number from {least} to {most}", fix=f"correct or unset {name}")


def _models(env: Mapping[str, str]) -> ModelSettings:
    spend = env.get(DAILY_SPEND, "5")
    return ModelSettings(
        provider=_choice(env, "ALPHAAGENT_LLM_PROVIDER", PROVIDERS),
        model=_text(env, "ALPHAAGENT_LLM_MODEL"),
        base_url=_url(env, "ALPHAAGENT_LLM_BASE_URL"),
        temperature=_number(env, "ALPHAAGENT_LLM_TEMPERATURE"),
        call_seconds=_number(env, "ALPHAAGENT_LLM_TIMEOUT_SECONDS"),
        keys={name: SecretStr(value) for name, value in env.items() if name.endswith("_API_KEY") and value.strip()},
        daily_spend=None if spend == "off" else Decimal(spend),
    )


def _notify_urls(env: Mapping[str, str], file: ConfigFile) -> dict[str, SecretStr]:
    """The addresses that the file's targets name. Raises ConfigFault on one that none names: it would never be used."""
    targets = file.document.get("targets")
    named = [target.get("url_variable") for target in targets.values() if isinstance(target, dict)] if isinstance(targets, dict) else []
    given = {name: value for name, value in env.items() if name.startswith(NOTIFY)}
    for name in given:
        if name not in named:
            raise ConfigFault(f"the environment variable {name} is the url_variable of no target of {file.path}", fix=f"add a target, or unset {name}")
    return {name: SecretStr(value) for name, value in given.items() if value.strip()}


def _number(env: Mapping[str, str], name: str) -> Decimal | None:
    return Decimal(env[name]) if name in env else None


def _text(env: Mapping[str, str], name: str) -> str | None:
    text = env.get(name)
    if text is not None and (not text.strip() or not text.isprintable()):
        raise ConfigFault(f"{name} is {text!r}, which names nothing", fix=f"correct or unset {name}")
    return text


def _url(env: Mapping[str, str], name: str) -> str | None:
    text = _text(env, name)
    if text is not None and not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", text):
        raise ConfigFault(f"{name} is no http address (what it holds is not shown, for there may be a key in it)", fix="write https://host/path")
    return text


@contextmanager
def contained_crewai() -> Iterator[None]:
    """The surroundings in which CrewAI may be imported: no telemetry, tracing or version check, a home folder that goes with the process, and
    nothing taken over from a stray .env file.
    """
    folder = tempfile.mkdtemp(prefix="alphaagent-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    switches = dict.fromkeys(("CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING", "CREWAI_DISABLE_VERSION_CHECK", "OTEL_SDK_DISABLED"), "true")
    switches |= {"CREWAI_TRACING_ENABLED": "false", "CREWAI_STORAGE_DIR": str(Path(folder) / "crewai")}
    before = dict(os.environ)
    os.environ.update(switches | {"HOME": folder, "USERPROFILE": folder})
    try:
        yield
    finally:
        for name in set(os.environ) - set(before) - set(switches):
            del os.environ[name]
        os.environ.update(before | switches)


def dashboard_program() -> Path:
    """What Streamlit runs; its folder ships beside the other defaults. Raises ConfigFault."""
    program = defaults_folder() / "dashboard" / "app.py"
    if not program.is_file():
        raise ConfigFault(f"the dashboard was not found: {program} is missing", fix="install AlphaAgent again")
    return program


def _folder(env: Mapping[str, str], name: str, default: Path, base: Path) -> Path:
    text = env.get(name)
    if text is None:
        return default
    folder = base / text
    if not text.strip() or not folder.is_dir():
        raise ConfigFault(f"{name} is {text!r}, which is no folder", fix=f"create the folder or unset {name}")
    return folder


def _boolean(env: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = env.get(name)
    if text is None:
        return default
    value = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}.get(text.strip().lower())
    if value is None:
        raise ConfigFault(f"{name} is {text!r}, which is no clear boolean", fix=f"set {name} to true or false")
    return value


def _choice(env: Mapping[str, str], name: str, valid: tuple[str, ...]) -> str | None:
    text = env.get(name)
    if text is None or text in valid:
        return text
    raise ConfigFault(f"{name} is {text!r}{nearest(text, list(valid))}", fix=f"set {name} to one of: {', '.join(valid)}")


def _data(env: Mapping[str, str]) -> DataMode:
    text = env.get("ALPHAAGENT_DATA", "snapshot")
    if text == "live":
        return "live"
    if text == "snapshot":
        return "snapshot"
    raise ConfigFault(f"ALPHAAGENT_DATA is {text!r}{nearest(text, ['snapshot', 'live'])}", fix="set ALPHAAGENT_DATA to snapshot or live")


def _own_prices(text: str | None, home: Path, source: Path) -> Path | None:
    if text is None:
        return None
    folder = home / text
    if not text.strip() or not folder.is_dir():
        raise ConfigFault(f"{source}: data.own_prices is {text!r}, and {folder} is no folder", fix="create the folder, or remove the key")
    return folder


def _database_url(env: Mapping[str, str], home: Path) -> str:
    url = env.get("ALPHAAGENT_DATABASE_URL", "sqlite:///data/alphaagent.db")
    scheme, separator, path = url.partition(":///")
    if scheme != "sqlite" or not separator or not path:
        raise ConfigFault(
            f"ALPHAAGENT_DATABASE_URL begins with {url.partition(':')[0]!r}; this version keeps its books in SQLite only",
            fix="use a URL like sqlite:///data/alphaagent.db",
        )
    return f"sqlite:///{home / path}"


def _snapshot(home: Path) -> Path | None:
    """The user's own snapshot where there is one, else the shipped one."""
    folders = (home / "data" / "snapshot", defaults_folder() / "data" / "snapshot")
    return next((folder for folder in folders if (folder / "manifest.json").is_file()), None)


def _config_file(config: Path, name: str) -> ConfigFile:
    for path in (config / name, defaults_folder() / "config" / name):
        if path.is_file():
            return ConfigFile(path=path, document=read_yaml(path, texts=name in OF_TEXT))
    raise ConfigFault(f"{name} was found neither in {config} nor among the shipped defaults", fix="set ALPHAAGENT_CONFIG to the folder that holds it")


def _portfolios(config: Path) -> Path:
    """The user's own portfolios where there is any, else the shipped one."""
    own = config / "portfolios"
    return own if any(own.glob("*.y*ml")) else defaults_folder() / "config" / "portfolios"


def _validated(shape: type[FileSettings], file: ConfigFile) -> dict[str, Any]:
    try:
        return dict(shape.model_validate(file.document))
    except ValidationError as fault:
        raise ConfigFault(*_explained(fault, file.path, shape)) from None


def _explained(fault: ValidationError, path: Path, shape: type[Frozen]) -> tuple[str]:
    first = fault.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return (f"{path}: unknown key {key}{nearest(str(first['loc'][-1]), _keys(shape, first['loc'][:-1]))}",)
    return (f"{path}: {key} is {first['input']!r}: {first['msg'].lower()}",)


def _keys(shape: type[Frozen], parents: tuple[int | str, ...]) -> list[str]:
    for parent in parents:
        annotation = shape.model_fields[str(parent)].annotation
        if isinstance(annotation, type) and issubclass(annotation, Frozen):
            shape = annotation
    return list(shape.model_fields)
