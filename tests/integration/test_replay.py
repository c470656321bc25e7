"""A stored decision comes out the same again from its record alone, and one that was altered does not."""

import hashlib
import json
import shutil
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.home import Home, finish, start

PARTS = ["evidence pack hash", "cases, score and proposal text", "proposal as the guardrail reads it", "ruling at decide"]


def replayed(home: Home) -> dict[str, Any]:
    return home.ok("replay", "last", "--json").document


def alter_record(home: Home, change: Callable[[dict[str, Any]], None]) -> None:
    """Rewrites the stored record as an intruder would: past the triggers, with its hash and whatever names it."""
    (content,) = home.sql("SELECT content FROM blob JOIN decision ON record_sha256 = sha256")[0]
    record = json.loads(content)
    change(record)
    altered = json.dumps(record).encode()
    for (name,) in home.sql("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        home.sql(f"DROP TRIGGER {name}")
    home.sql("INSERT INTO blob VALUES (?, ?)", hashlib.sha256(altered).hexdigest(), altered)
    home.sql("UPDATE decision SET record_sha256 = ?", hashlib.sha256(altered).hexdigest())


def test_a_replay_agrees_with_data_and_configuration_gone(home: Home) -> None:
    """What stands in for them afterwards is another mandate and another lexicon, so that reading either would show."""
    home.own_snapshot()
    home.own_config("mandate.yaml", lambda text: text.replace("max_order_fraction: 0.05", "max_order_fraction: 0.02"))
    home.own_config("alphaagent.yaml", lambda text: text.replace("fee_bps: 1", "fee_bps: 2"))
    guard = home.decide("AAPL", "2020-08-28")["guard"]
    assert 0 < Decimal(guard["quantity_out"]) * Decimal(guard["price"]) <= 2000
    shutil.rmtree(home.folder / "data" / "snapshot")
    shutil.rmtree(home.folder / "config")
    document = replayed(home)
    assert document["agrees"] is True
    assert [part["part"] for part in document["parts"]] == PARTS


def test_a_replay_agrees_where_no_snapshot_can_be_found_at_all(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.decide("AAPL", "2020-08-28")
    monkeypatch.setattr("alphaagent.settings._snapshot", lambda home: None)
    assert replayed(home)["agrees"] is True
    assert home.run("decide", "AAPL", "--as-of", "2020-09-01").code == 2


def test_a_replay_reads_other_recorded_data_not_at_all(home: Home) -> None:
    home.decide("NVDA", "2021-07-19")
    folder = home.own_snapshot()
    for path in (*folder.glob("*/*.csv"), *folder.glob("*/*.xml"), folder / "sessions.csv"):
        path.write_bytes(b"\xff\x00")
    assert replayed(home)["agrees"] is True


def test_after_settlement_both_rulings_are_made_again(home: Home) -> None:
    home.decide("AAPL", "2020-08-28")
    home.settle("2020-08-31")
    document = replayed(home)
    assert document["agrees"] is True
    assert [part["part"] for part in document["parts"]] == [*PARTS, "ruling at settle"]


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"},
        {"PYTHONHASHSEED": "4242", "TZ": "America/Los_Angeles", "LC_ALL": "C", "PYTHONUTF8": "0"},
    ],
)
def test_a_replay_agrees_in_another_process_with_another_seed_time_zone_and_locale(home: Home, environment: dict[str, str]) -> None:
    home.decide("NVDA", "2021-07-19")
    home.settle("2021-07-20")
    ran = finish(start(home.folder, "replay", "last", "--json", **environment))
    assert ran.code == 0, ran.err
    assert ran.document == replayed(home)


def test_a_decision_is_the_same_in_another_process_with_another_seed_time_zone_and_locale(home: Home) -> None:
    here = home.ok("decide", "NVDA", "--as-of", "2021-07-19", "--dry-run", "--json").out
    environment = {"PYTHONHASHSEED": "7", "TZ": "Asia/Kolkata", "LC_ALL": "tr_TR.UTF-8"}
    assert finish(start(home.folder, "decide", "NVDA", "--as-of", "2021-07-19", "--dry-run", "--json", **environment)).out == here


def test_a_hold_replays(home: Home) -> None:
    assert home.decide("AAPL", "2019-01-31")["proposal"]["action"] == "HOLD"
    assert replayed(home)["agrees"] is True


def test_a_fallback_decision_replays(home: Home) -> None:
    assert home.decide("AAPL", "2020-08-28", "--engine", "crew")["provenance"] == "fallback"
    assert replayed(home)["agrees"] is True


def test_a_decision_with_a_lost_source_replays(home: Home) -> None:
    (home.own_snapshot() / "fundamentals" / "AAPL.csv").unlink()
    home.decide("AAPL", "2020-08-28")
    assert replayed(home)["agrees"] is True


def other_score(record: dict[str, Any]) -> None:
    record["result"]["score"] = "0.9"


def other_evidence(record: dict[str, Any]) -> None:
    (item,) = [item for item in record["pack"]["items"] if item["kind"] == "momentum"]
    item["payload"]["p_21"] = "1.0"


def other_amount(record: dict[str, Any]) -> None:
    record["result"]["proposal_text"] = record["result"]["proposal_text"].replace("2315.91", "9315.91")


def other_reading(record: dict[str, Any]) -> None:
    record["proposal"]["amount"] = "1.0"


def other_limits(record: dict[str, Any]) -> None:
    text = json.dumps(record["mandate"])
    assert '"0.05"' in text
    record["mandate"] = json.loads(text.replace('"0.05"', '"0.01"'))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (other_score, "cases, score and proposal text"),
        (other_evidence, "evidence pack hash"),
        (other_amount, "cases, score and proposal text"),
        (other_reading, "proposal as the guardrail reads it"),
        (other_limits, "ruling at decide"),
    ],
)
def test_an_altered_record_differs_and_the_difference_is_shown(home: Home, change: Callable[[dict[str, Any]], None], part: str) -> None:
    home.decide("AAPL", "2020-08-28")
    alter_record(home, change)
    ran = home.run("replay", "last", "--json")
    assert (ran.code, ran.document["agrees"]) == (6, False)
    differing = {check["part"]: check["difference"] for check in ran.document["parts"] if not check["agrees"]}
    assert "recorded" in differing[part]
    assert "now" in differing[part]
    talk = home.run("replay", "last")
    assert talk.code == 6
    assert f"DIFFERS {part}" in talk.out


def test_an_altered_ruling_differs(home: Home) -> None:
    home.decide("AAPL", "2020-08-28")
    for (name,) in home.sql("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        home.sql(f"DROP TRIGGER {name}")
    home.sql("""UPDATE guard_result SET ruling_json = replace(ruling_json, '"code":"APPROVED"', '"code":"NO_ORDER"')""")
    ran = home.run("replay", "last")
    assert ran.code == 6
    assert "DIFFERS ruling at decide" in ran.out


def test_bytes_that_do_not_match_their_hash_are_unsound_books(home: Home) -> None:
    home.decide("AAPL", "2020-08-28")
    home.sql("DROP TRIGGER blob_no_update")
    home.sql("UPDATE blob SET content = CAST(replace(content, 'AAPL', 'NVDA') AS BLOB) WHERE sha256 IN (SELECT record_sha256 FROM decision)")
    ran = home.run("replay", "last")
    assert ran.code == 5
    assert "audit verify" in ran.err
    assert ran.out == ""


def test_an_unknown_decision_is_a_usage_error(home: Home) -> None:
    home.decide("AAPL", "2020-08-28")
    ran = home.run("replay", "dec_0000000000000000")
    assert ran.code == 2
    assert "dec_0000000000000000" in ran.err


def test_a_replay_writes_nothing(home: Home) -> None:
    home.decide("AAPL", "2020-08-28")
    before = home.counts()
    replayed(home)
    assert home.counts() == before
