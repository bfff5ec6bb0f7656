"""In bundles, pages that are too long are rejected, and YAML aliases are not expanded if the result would be huge."""

from tests.server.organize.conftest import BundleFolder
from tests.server.organize.test_bundle_reading import mistakes_of


def test_a_page_that_is_too_long_is_a_mistake(bundle: BundleFolder) -> None:
    bundle.write("data.md", b"x" * (2**20 + 1))
    assert mistakes_of(bundle) == [("too_large", "data.md", None)]


def test_an_alias_that_expands_a_billion_times_is_not_expanded(bundle: BundleFolder) -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    bundle.sheet(challenge="\n".join(lines) + "\n")
    assert {code for code, _, _ in mistakes_of(bundle)} == {"unknown_key"}


def test_thousands_of_unknown_parameters_are_reported(bundle: BundleFolder) -> None:
    names = ", ".join(f"p{number}: 1" for number in range(2000))
    bundle.sheet(phase=f"    parameters: {{{names}}}\n")
    assert mistakes_of(bundle) == [("bad_parameter", "challenge.yaml", 6)] * 2000
