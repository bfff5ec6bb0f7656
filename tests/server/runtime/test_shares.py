"""If a web process has too many connections, those of the client address that uses the most are closed first."""

import pytest

from server.runtime.shares import UNKNOWN, Shares


def shares_of(**held: int) -> Shares[str]:
    """Return a `Shares` object with the given connections. It selects the connection to close if too many are open.

    `held` maps each client address to its number of connections. Here, addresses are names. If a name begins with
    `steady` or `busy`, its connections are in the middle of requests. Those of `steady` names proceed at a steady
    speed. Those of `busy` names count as slow, because their speed is not known. All other connections are idle.
    """
    shares: Shares[str] = Shares(most=80, most_of_one=50)
    for address, count in held.items():
        for number in range(count):
            shares.enter(address)
            shares.add_waiting(f"{address} {number}", address, idle=not address.startswith(("busy", "steady")))
            shares.update_pace(f"{address} {number}", address, is_steady=address.startswith("steady"))
    return shares


def test_the_oldest_connection_of_the_address_with_the_most_connections_is_closed() -> None:
    shares = shares_of(few=3, many=10)
    assert shares.worst() == "many 0"
    shares.remove_waiting("many 0", "many")
    assert shares.worst() == "many 1"


@pytest.mark.parametrize(
    ("held", "worst"),
    [
        # The address with the most idle or slow connections loses one, even if all of its connections are slow.
        ({"busy": 11, "early": 10}, "busy 0"),
        # An address with more than 8 slow connections loses one, even if another address has more connections that
        # are steady.
        ({"steady": 40, "busy": 9}, "busy 0"),
        # No address has more than 8 slow connections, so the address with more than 8 steady connections loses one.
        ({"busy": 8, "steady": 9}, "steady 0"),
        # No address has more than 8 connections. Most connections are steady, so the oldest steady one is closed.
        ({"steady1": 8, "steady2": 8, "early": 1}, "steady1 0"),
        # No address has more than 8 connections. Most are slow or idle, so the oldest of these is closed.
        ({"steady": 8, "busy1": 8, "busy2": 8}, "busy1 0"),
        ({"busy": 1, "early": 1}, "busy 0"),
    ],
)
def test_an_address_with_many_connections_loses_one_before_others(held, worst) -> None:
    assert shares_of(**held).worst() == worst


def test_a_new_connection_is_never_chosen_to_make_room_for_itself() -> None:
    shares = shares_of(new=1)
    assert shares.worst("new 0") is None
    shares = shares_of(new=1, steady=1)
    assert shares.worst("new 0") == "steady 0"


def test_an_idle_connection_is_closed_before_busy_ones_of_its_address() -> None:
    shares = shares_of(busy=9)
    shares.enter("busy")
    shares.add_waiting("idle", "busy", idle=True)
    assert (shares.worst(), shares.worst("idle")) == ("idle", "busy 0")


def test_few_steady_connections_are_not_closed_while_threads_use_all_others() -> None:
    shares = shares_of(steady=3)
    for _ in range(4):
        shares.enter("in use")
    assert shares.worst() is None
    shares.leave("in use")
    assert shares.worst() == "steady 0"


def test_a_client_that_slows_down_is_closed_first_again() -> None:
    shares = shares_of(steady=9, busy=9)
    assert shares.worst() == "busy 0"
    for number in range(9):
        shares.update_pace(f"steady {number}", "steady", is_steady=False)
    assert shares.worst() == "steady 0"


def test_connections_that_no_longer_wait_are_not_closed() -> None:
    shares = shares_of(steady=1, busy=1, idle=1)
    for address in ("steady", "busy", "idle"):
        shares.remove_waiting(f"{address} 0", address)
    assert shares.worst() is None


def test_connections_of_unknown_senders_have_no_share() -> None:
    shares = shares_of(**{UNKNOWN: 70})
    assert shares.surplus(UNKNOWN) is None
    assert shares.worst() == f"{UNKNOWN} 0"
