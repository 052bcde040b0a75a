"""What the section on occluders draws and tabulates, taken out of the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.report.results import Finding, Results
from snellen.report.words import is_known

AUDIT, PEOPLE, EVERYONE = "occluders", "people", "all models"
CLEAN, REAL = "none", "real"


@dataclass(frozen=True)
class Values:
    """The findings of the audit by name, and those of a type at a level."""

    results: Results
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, results: Results) -> Values:
        """Those of a run; without any where the audit was not asked for."""
        return cls(results, tuple(results.of_audit(AUDIT)))

    def named(self, name: str, **facts: Any) -> list[Finding]:
        """The findings of a name with these facts."""
        own = (one for one in self.findings if one["name"] == name)
        return [one for one in own if all(one["facts"].get(key) == value for key, value in facts.items())]

    def one(self, name: str, model: str, **facts: Any) -> Finding | None:
        """The first of them that is about a model."""
        return next((one for one in self.named(name, **facts) if one["model"] == model), None)

    @property
    def rows(self) -> list[str]:
        """The models, then people where there are any; without the model that people were taken from."""
        human = self.named("human_accuracy")
        return [*self.results.models, *([PEOPLE] if human else [])]

    def at(self, model: str, kind: str, level: int) -> Finding | None:
        """A model's accuracy, or that of people, under a type at a level; level 0 is unoccluded."""
        if model == PEOPLE:
            return self.one("human_accuracy", PEOPLE, type=CLEAN if level == 0 else kind, level=level)
        if level == 0:
            return self.one("unoccluded_accuracy", model)
        return self.one("level_accuracy", model, type=kind, level=level)

    def types(self, family: str) -> list[str]:
        """The types of a family, as the audit lists them."""
        return list(dict.fromkeys(one["facts"]["type"] for one in self.named("level_accuracy", family=family)))

    def level_names(self, kind: str) -> dict[int, str]:
        """The levels of a type by their place, that without occlusion first; those that were not asked for are left out."""
        own = self.named("level_accuracy", type=kind)
        names = {one["facts"]["level"]: str(one["facts"]["level_name"]) for one in own}
        nothing = "none" if own and own[0]["facts"]["scale"] == "levels" else "0%"
        return {0: nothing, **{level: names[level] for level in sorted(names)}}

    def share_of(self, kind: str) -> str:
        """What hidden shares of a type are shares of, object or image."""
        return next((str(one["facts"]["share_of"]) for one in self.named("level_accuracy", type=kind)), "object")

    def points(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a type: level by level, what is known."""
        names = self.level_names(kind)
        points = []
        for model in self.rows:
            for level, name in names.items():
                one = self.at(model, kind, level)
                if one is not None and is_known(one["value"]):
                    points.append(
                        {"model": model, "level": name, **{key: one[key] for key in ("value", "low", "high")}}
                    )
        return points

    def rank_parts(self) -> list[tuple[Finding, list[Finding]]]:
        """Friedman's test of each family and level, with the models' mean ranks."""
        parts = []
        for test in self.named("friedman_q"):
            facts = test["facts"]
            parts.append((test, self.named("mean_rank", family=facts["family"], level=facts["level"])))
        return parts

    def depth_name(self) -> str:
        """The finding that figure 11 draws: on the images of the best people, where there are any."""
        return "top_tree_accuracy" if self.named("top_tree_accuracy") else "tree_accuracy"


def levels_in(findings: Sequence[Mapping[str, Any]]) -> list[int]:
    """The levels that findings are about, in order."""
    return sorted({one["facts"]["level"] for one in findings})
