"""Simulates a person who uses pages with a mouse or only with a keyboard, and counts the clicks."""

from pathlib import Path

from playwright.sync_api import Locator, Page

TAB_PRESSES = 120


class Person:
    """A simulated person who uses a browser. Activating a link, a button or a file field counts as one click."""

    def __init__(self, page: Page, *, keyboard: bool = False) -> None:
        self.page, self.keyboard = page, keyboard
        self.clicks = 0

    def click(self, target: Locator) -> None:
        self.clicks += 1
        if self.keyboard:
            self.move_focus_to(target)
            self.page.keyboard.press("Enter")
        else:
            target.click()

    def enter(self, label: str, text: str) -> None:
        """Type text into the form field with the given label. Typing does not count as a click."""
        target = self.page.get_by_label(label)
        if self.keyboard:
            self.move_focus_to(target)
            self.page.keyboard.type(text)
        else:
            target.fill(text)

    def choose(self, target: Locator, file: Path) -> None:
        with self.page.expect_file_chooser() as chooser:
            self.click(target)
        chooser.value.set_files(file)

    def open_mail(self, link: str) -> None:
        """Open a link from an email in the browser, which counts as a click."""
        self.clicks += 1
        self.page.goto(link)

    def move_focus_to(self, target: Locator) -> None:
        target.wait_for()
        for _ in range(TAB_PRESSES):
            if target.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the Tab key did not reach {target}")
