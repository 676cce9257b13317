from __future__ import annotations

import dataclasses

from rainbowdp.reproduce import reproduce


def test_every_number_of_the_paper_comes_out_as_due() -> None:
    claims = reproduce()
    assert [claim for claim in claims if not claim.holds] == []
    assert {claim.place for claim in claims} >= {"Fig. 1(A)", "Example 1", "Fig. 3", "Lemma 1"}
    assert sum(claim.erratum for claim in claims) == 7


def test_a_changed_number_is_noticed() -> None:
    claim = dataclasses.replace(reproduce()[0], ours="17, 31")
    assert not claim.holds
