"""Debates of one process queue for money: a refusal counts once nobody else here holds any."""

import threading

import pytest

from alphaagent.errors import ProviderFault
from alphaagent.llm.till import Till


class Purse:
    """Reservations of 1 each, under a ceiling."""

    def __init__(self, ceiling: int) -> None:
        self.left, self.most, self.held = ceiling, 0, 0

    def take(self) -> str:
        if self.left == 0:
            raise ProviderFault("the ceiling would be passed")
        self.left, self.held = self.left - 1, self.held + 1
        self.most = max(self.most, self.held)
        return "ref"

    def give_back(self) -> None:
        self.left, self.held = self.left + 1, self.held - 1


def test_a_refusal_beside_nobody_is_a_refusal() -> None:
    with pytest.raises(ProviderFault, match="ceiling"), Till().reserved(Purse(0).take):
        pass


def test_whoever_is_refused_beside_others_waits_for_them() -> None:
    till, purse, served = Till(), Purse(2), []

    def debate(name: int) -> None:
        with till.reserved(purse.take):
            served.append(name)
            purse.give_back()

    threads = [threading.Thread(target=debate, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(served) == list(range(8))
    assert purse.most <= 2


def test_whoever_waits_is_refused_once_the_money_is_really_gone() -> None:
    till, purse, refused, inside, go_on = Till(), Purse(1), [], threading.Event(), threading.Event()

    def spend_it() -> None:
        with till.reserved(purse.take):
            inside.set()
            go_on.wait(10)

    def wait_for_it() -> None:
        inside.wait(10)
        try:
            with till.reserved(purse.take):
                pass
        except ProviderFault as fault:
            refused.append(fault.message)

    threads = [threading.Thread(target=spend_it), threading.Thread(target=wait_for_it)]
    for thread in threads:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert refused == ["the ceiling would be passed"]


def test_a_failed_debate_gives_its_place_back() -> None:
    till, purse = Till(), Purse(1)
    with pytest.raises(ZeroDivisionError), till.reserved(purse.take):
        raise ZeroDivisionError
    purse.give_back()
    with till.reserved(purse.take) as held:
        assert held == "ref"
