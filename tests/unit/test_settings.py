"""Settings: every variable good and bad, every fault named with its file and key, and nothing guessed in YAML."""

from decimal import Decimal as D
from pathlib import Path

import pytest

from alphaagent.errors import ConfigFault
from alphaagent.settings import PROVIDERS, VARIABLES, Settings, defaults_folder, load_settings, nearest, read_yaml


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    return tmp_path


def load(home: Path, **environ: str) -> Settings:
    return load_settings(environ, home)


def configured(home: Path, text: str, **environ: str) -> Settings:
    (home / "config" / "alphaagent.yaml").write_text(text, encoding="utf-8")
    return load(home, **environ)


def complaint(home: Path, text: str | None = None, **environ: str) -> str:
    with pytest.raises(ConfigFault) as caught:
        load(home, **environ) if text is None else configured(home, text, **environ)
    return caught.value.message


def test_an_empty_folder_runs_on_the_shipped_defaults(home: Path) -> None:
    found = load(home)

    assert (found.portfolio.starting_cash, found.portfolio.mandate) == (100_000, "default")
    assert (found.execution.slippage_bps, found.execution.fee_bps, found.slots.wait_seconds) == (5, 1, 60)
    assert found.database_url == f"sqlite:///{home}/data/alphaagent.db"
    assert (found.allow_fallback, found.models.provider, found.data_mode, found.halt_variable) == (True, None, "snapshot", False)
    assert found.halt_file == home / "data" / "HALT"
    assert found.config_source == defaults_folder() / "config"
    assert "default" in found.mandates.document
    assert found.snapshot == defaults_folder() / "data" / "snapshot"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("true", True), ("TRUE", True), (" 1 ", True), ("yes", True), ("on", True), ("false", False), ("0", False), ("No", False), ("off", False)],
)
@pytest.mark.parametrize(("name", "field"), [("ALLOW_HEURISTIC_FALLBACK", "allow_fallback"), ("ALPHAAGENT_HALT", "halt_variable")])
def test_a_clear_boolean_is_read(home: Path, name: str, field: str, text: str, expected: bool) -> None:
    assert getattr(load(home, **{name: text}), field) is expected


@pytest.mark.parametrize("text", ["", "maybe", "2", "falsch", "true false"])
@pytest.mark.parametrize("name", ["ALLOW_HEURISTIC_FALLBACK", "ALPHAAGENT_HALT"])
def test_anything_but_a_clear_boolean_is_refused(home: Path, name: str, text: str) -> None:
    assert complaint(home, **{name: text}) == f"{name} is {text!r}, which is no clear boolean"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_can_be_named(home: Path, provider: str) -> None:
    assert load(home, ALPHAAGENT_LLM_PROVIDER=provider).models.provider == provider


@pytest.mark.parametrize(("text", "hint"), [("antropic", "did you mean anthropic?"), ("", "valid: anthropic"), ("opennai", "did you mean openai?")])
def test_an_unknown_provider_is_refused_with_the_nearest(home: Path, text: str, hint: str) -> None:
    message = complaint(home, ALPHAAGENT_LLM_PROVIDER=text)

    assert message.startswith(f"ALPHAAGENT_LLM_PROVIDER is {text!r}")
    assert hint in message


@pytest.mark.parametrize(("text", "ceiling"), [(None, D(5)), ("0", D(0)), ("2.50", D("2.50")), ("1000000", D(1_000_000)), ("off", None)])
def test_the_daily_spend_has_a_ceiling_unless_it_is_off(home: Path, text: str | None, ceiling: D | None) -> None:
    assert load(home, **({} if text is None else {"ALPHAAGENT_DAILY_SPEND_USD": text})).models.daily_spend == ceiling


@pytest.mark.parametrize("text", ["", "none", "OFF", "-1", "1e3", "1000001", "5 USD"])
def test_a_daily_spend_that_is_no_number_in_its_bounds_is_refused(home: Path, text: str) -> None:
    assert "ALPHAAGENT_DAILY_SPEND_USD" in complaint(home, ALPHAAGENT_DAILY_SPEND_USD=text)


def test_data_are_the_snapshot_or_live(home: Path) -> None:
    assert load(home).data_mode == "snapshot"
    assert load(home, ALPHAAGENT_DATA="snapshot").data_mode == "snapshot"
    assert load(home, ALPHAAGENT_DATA="live").data_mode == "live"
    assert complaint(home, ALPHAAGENT_DATA="snapshoot") == "ALPHAAGENT_DATA is 'snapshoot'; did you mean snapshot?"


@pytest.mark.parametrize(("url", "path"), [("sqlite:///books.db", "books.db"), ("sqlite:///a/b.db", "a/b.db"), ("sqlite:////var/books.db", "/var/books.db")])
def test_a_database_url_is_taken_from_the_home_folder(home: Path, url: str, path: str) -> None:
    assert load(home, ALPHAAGENT_DATABASE_URL=url).database_url == f"sqlite:///{home / path}"


@pytest.mark.parametrize("url", ["", "postgresql://host/db", "sqlite://books.db", "sqlite:///", "books.db"])
def test_a_database_url_of_another_kind_is_refused(home: Path, url: str) -> None:
    assert "this version keeps its books in SQLite only" in complaint(home, ALPHAAGENT_DATABASE_URL=url)


def test_a_refused_database_url_does_not_give_its_password_away(home: Path) -> None:
    assert "secret" not in complaint(home, ALPHAAGENT_DATABASE_URL="postgresql://me:secret@host/db")


@pytest.mark.parametrize("name", ["ALPHAAGENT_HOME", "ALPHAAGENT_CONFIG"])
@pytest.mark.parametrize("text", ["", "  ", "missing"])
def test_a_folder_that_is_none_is_refused(home: Path, name: str, text: str) -> None:
    assert complaint(home, **{name: text}) == f"{name} is {text!r}, which is no folder"


def test_the_home_is_named_relative_to_the_current_folder_and_the_configuration_relative_to_the_home(home: Path) -> None:
    (home / "desk" / "conf").mkdir(parents=True)
    (home / "desk" / "conf" / "alphaagent.yaml").write_text("slots: {wait_seconds: 7}")
    found = load(home, ALPHAAGENT_HOME="desk", ALPHAAGENT_CONFIG="conf")

    assert (found.home, found.slots.wait_seconds) == (home / "desk", 7)
    assert found.config_source == home / "desk" / "conf"


def test_a_file_that_the_user_has_comes_before_the_shipped_one(home: Path) -> None:
    (home / "config" / "mandate.yaml").write_text("mine: {risk_profile: low}")
    found = load(home)

    assert found.mandates.document == {"mine": {"risk_profile": "low"}}
    assert found.lexicon.path == defaults_folder() / "config" / "lexicon.yaml"


def test_an_own_snapshot_comes_before_the_shipped_one(home: Path) -> None:
    (home / "data" / "snapshot").mkdir(parents=True)
    (home / "data" / "snapshot" / "manifest.json").write_text("{}")

    assert load(home).snapshot == home / "data" / "snapshot"


def test_a_misspelt_variable_is_refused_with_the_nearest(home: Path) -> None:
    assert complaint(home, ALPHAAGENT_DATABASE_ULR="x") == (
        "the environment variable ALPHAAGENT_DATABASE_ULR is unknown; did you mean ALPHAAGENT_DATABASE_URL?"
    )


def test_every_variable_of_the_list_is_known_and_others_are_none_of_ours(home: Path) -> None:
    good = {
        "ALPHAAGENT_LLM_PROVIDER": "none",
        "ALPHAAGENT_DATABASE_URL": "sqlite:///x.db",
        "ALPHAAGENT_DATA": "snapshot",
        "ALPHAAGENT_HALT": "0",
        "ALPHAAGENT_LLM_BASE_URL": "http://127.0.0.1/v1",
    }
    folders = {"ALPHAAGENT_HOME": str(home), "ALPHAAGENT_CONFIG": "config"}

    assert load(home, **(dict.fromkeys(VARIABLES, "1") | good | folders), PATH="/bin", AGENT="x").models.provider == "none"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("portfolo: {}", "unknown key portfolo; did you mean portfolio?"),
        ("execution: {slipage_bps: 5}", "unknown key execution.slipage_bps; did you mean slippage_bps?"),
        ("portfolio: {zzz: 1}", "unknown key portfolio.zzz; valid: lot_method, mandate, starting_cash"),
        ("slots: {wait_seconds: -1}", "slots.wait_seconds is -1: input should be greater than or equal to 0"),
        ("portfolio: {starting_cash: on}", "portfolio.starting_cash is 'on': input should be a valid decimal"),
        ("portfolio: {starting_cash: true}", "portfolio.starting_cash is True: decimal input should be an integer, float, string or decimal object"),
        ("portfolio: {starting_cash: .nan}", "portfolio.starting_cash is '.nan': input should be a valid decimal"),
        ("portfolio:", "portfolio is None: input should be a valid dictionary or instance of portfoliosettings"),
    ],
)
def test_a_fault_in_the_file_names_file_key_and_remedy(home: Path, text: str, expected: str) -> None:
    assert complaint(home, text) == f"{home / 'config' / 'alphaagent.yaml'}: {expected}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("slots: {}\nslots: {}", "the key slots stands twice (line 2)"),
        ("slots:\n  wait_seconds: 1\n  wait_seconds: 2", "the key wait_seconds stands twice (line 3)"),
        ("- a\n- b", "must hold keys and values"),
        ("just words", "must hold keys and values"),
        ("a: [1", "is no valid YAML"),
        ("a: !!python/object:os.system x", "is no valid YAML"),
        ("a: !!int x", "is no valid YAML"),
        ("a: " + "9" * 5000, "is no valid YAML"),
    ],
)
def test_yaml_that_cannot_be_meant_is_refused(home: Path, text: str, expected: str) -> None:
    message = complaint(home, text)

    assert str(home / "config" / "alphaagent.yaml") in message
    assert expected in message


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: \xff\xfe\xfa")

    with pytest.raises(ConfigFault, match="is no valid YAML"):
        read_yaml(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="cannot be read: Is a directory"):
        read_yaml(tmp_path)


def test_an_empty_file_is_no_settings(home: Path) -> None:
    assert configured(home, "# nothing\n").portfolio.starting_cash == 100_000


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("on", "on"),
        ("no", "no"),
        ("Yes", "Yes"),
        ("TRUE", "TRUE"),
        ("true", True),
        ("false", False),
        ("2020-01-02", "2020-01-02"),
        ("1:30", "1:30"),
        ("010", "010"),
        ("0x1F", "0x1F"),
        ("12", 12),
        ("-3", -3),
        ("0.1", D("0.1")),
        ("1.10", D("1.10")),
        ("~", None),
    ],
)
def test_nothing_is_guessed_in_yaml(tmp_path: Path, written: str, expected: object) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"a: {written}\n{written}: b\n")
    found = read_yaml(path)

    assert (found["a"], type(found["a"])) == (expected, type(expected))


@pytest.mark.parametrize("written", ["on", "true", "TRUE", "NULL", "1E5", "12", "1.10", "0.1", "2020-01-02", ".inf", "0700", "<<"])
def test_yaml_of_names_is_read_as_the_text_that_stands_there(tmp_path: Path, written: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"a: {written}\n{written}: [{written}]\n")

    assert read_yaml(path, texts=True) == {"a": written, written: [written]}


def test_yaml_of_names_says_nothing_by_null(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: null\nb: ~\nc:\n")

    assert read_yaml(path, texts=True) == {"a": None, "b": None, "c": None}


def test_decimals_never_pass_through_binary_floats(home: Path) -> None:
    found = configured(home, "execution: {fee_bps: 0.1, slippage_bps: 2.675000000000000000001}")

    assert (found.execution.fee_bps, found.execution.slippage_bps) == (D("0.1"), D("2.675000000000000000001"))


def test_the_nearest_name_is_named_and_otherwise_all_of_them() -> None:
    assert nearest("aple", ["apple", "pear"]) == "; did you mean apple?"
    assert nearest("zzz", ("pear", "apple")) == "; valid: apple, pear"


def test_settings_are_frozen(home: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load(home).allow_fallback = False  # type: ignore[misc]
