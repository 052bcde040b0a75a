"""The table of data kinds: every kind is listed with an example and its meaning, and is read by its own name."""

from __future__ import annotations

import inspect

import pytest

import snellen.data
from snellen.catalogue import catalogue
from snellen.data import SCHEMES
from snellen.errors import UserError


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_kind_has_an_example_under_its_own_name_and_is_listed(scheme: str) -> None:
    kind = SCHEMES[scheme]
    assert kind.example.startswith(f"{scheme}:")
    assert (kind.example, kind.meaning) in catalogue("data")
    assert all(line in catalogue("data") for line in kind.also)


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "phantom"])
def test_a_kind_refuses_what_is_not_there_by_name(scheme: str) -> None:
    with pytest.raises(UserError, match="nowhere"):
        SCHEMES[scheme].read("nowhere/at-all", {})


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_reader_of_a_kind_does_not_hide_its_module(scheme: str) -> None:
    assert SCHEMES[scheme].read.__name__ == f"load_{scheme}"
    assert inspect.ismodule(getattr(snellen.data, scheme))
