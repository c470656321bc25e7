"""Debates of one process queue for money: a refusal counts once nobody else here holds any."""

import threading
import time
from collections.abc import Callable, Sequence

import pytest

from alphaagent.errors import NotBegun, ProviderFault
from alphaagent.llm.till import Place, Till


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


def in_line(till: Till, reserve: Callable[[], str], delays: Sequence[float], served: list[int], refused: list[int]) -> None:
    """Debates that come to the till in no order, each with its place."""

    def debate(number: int, place: Place) -> None:
        time.sleep(delays[number])
        try:
            with place.reserved(reserve):
                served.append(number)
        except ProviderFault:
            refused.append(number)
        finally:
            place.leave()

    places = till.line_up(len(delays))
    threads = [threading.Thread(target=debate, args=(number, place)) for number, place in enumerate(places)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)


@pytest.mark.parametrize("delays", [(0.06, 0.03, 0.0), (0.0, 0.03, 0.06), (0.03, 0.06, 0.0)])
def test_debates_in_line_are_served_in_their_order_however_late_they_come(delays: tuple[float, ...]) -> None:
    served: list[int] = []
    in_line(Till(), Purse(3).take, delays, served, [])
    assert served == [0, 1, 2]


def test_money_for_two_goes_to_the_first_two() -> None:
    served: list[int] = []
    refused: list[int] = []
    in_line(Till(), Purse(2).take, (0.05, 0.03, 0.01, 0.0), served, refused)
    assert (served, refused) == ([0, 1], [2, 3])


def test_whoever_leaves_the_line_lets_the_next_move_up() -> None:
    till = Till()
    first, second = till.line_up(2)
    first.leave()
    first.leave()
    with second.reserved(Purse(1).take) as held:
        assert held == "ref"


def test_a_fault_that_is_not_about_money_is_nobodys_to_wait_for() -> None:
    def too_late() -> str:
        raise NotBegun("the time is up")

    with pytest.raises(NotBegun), Till().reserved(too_late):
        pass


def test_a_closed_till_serves_nobody_and_lets_those_go_who_wait() -> None:
    till, told = Till(), []
    _first, second = till.line_up(2)

    def wait() -> None:
        try:
            with second.reserved(Purse(1).take):
                pass
        except ProviderFault as fault:
            told.append(fault.message)

    waiting = threading.Thread(target=wait)
    waiting.start()
    till.close()
    waiting.join(10)
    assert told == ["the run was interrupted before this debate began"]


def test_a_failed_debate_gives_its_place_back() -> None:
    till, purse = Till(), Purse(1)
    with pytest.raises(ZeroDivisionError), till.reserved(purse.take):
        raise ZeroDivisionError
    purse.give_back()
    with till.reserved(purse.take) as held:
        assert held == "ref"
