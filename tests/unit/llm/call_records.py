"""Records of calls as a debate makes them."""

from typing import Any

from alphaagent.domain.base import sha256_hex
from alphaagent.domain.transcript import CallRecord


def call(side: str = "bull", number: int = 1, attempt: int = 1, **changes: Any) -> CallRecord:
    """A call that was answered; the verdict's where the side is the CIO."""
    phase, round_ = ("verdict", 2) if side == "cio" else ("opening", 1)
    request = changes.pop("request", f'{{"from": "{side}", "number": {number}}}')
    plain: dict[str, Any] = {
        "phase": phase,
        "round": round_,
        "side": side,
        "number": number,
        "attempt": attempt,
        "seq": 1,
        "model": "m",
        "path": "/v1/chat/completions",
        "request": request,
        "request_sha256": sha256_hex(request.encode()),
        "status": 200,
        "content_type": "application/json",
        "response": '{"said": "yes"}',
        "started_ms": 3,
        "latency_ms": 5,
    }
    return CallRecord.model_validate(plain | changes)
