"""A user can approve the login of a program in a browser, on a computer or a phone."""

import pytest
from playwright.sync_api import expect

from server.accounts import device_logins
from tests.browser.conftest import Open
from tests.conftest import Make

pytestmark = [
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.django_db(transaction=True),
]


@pytest.mark.parametrize("width", [390, 1440])
def test_a_link_with_the_code_leads_to_approval(visit: Open, make: Make, width: int) -> None:
    login, device_code = device_logins.start(name="podium on laptop", scope="submit", network="192.0.2.7")
    page = visit(make.user(), width=width).new_page()
    page.goto(f"/accounts/device?code={login.user_code}")
    page.get_by_role("button", name="Continue").press("Enter")
    expect(page.get_by_text("192.0.2.7")).to_be_visible()
    expect(page.get_by_text(login.user_code)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Approve").press("Enter")
    expect(page.get_by_role("heading", name="The program is logged in")).to_be_visible()
    assert device_logins.fetch_token(device_code)[1].startswith("podium_")
