"""Training for the worst group: group distributionally robust optimisation (Sagawa et al. 2020).

    --robust 'groupdro(groups=label*background_class, step=0.01, adjust=0)'

Groups are the values of a column of the data, or of several together. Each has a weight that grows with its loss, and the
network learns from the weighted sum: q_g ∝ q_g · exp(step · (loss_g + adjust / √n_g)), then loss = Σ q_g · loss_g, as in
their algorithm 1. Without a strong weight decay or early stopping a large network fits every group, and the weights then
change nothing (their section 3.1): raise `--weight-decay`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from snellen.data.dataset import Dataset
from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.notation import build, expect_at_most, read, text_form
from snellen.train.processes import Team

if TYPE_CHECKING:
    from torch import Tensor

MOST_GROUPS = 4096
_PRODUCT = re.compile(r"(\bgroups\s*=\s*)([\w.-]+(?:\s*\*\s*[\w.-]+)+)")  # a*b without quotes


class Grouped(NamedTuple):
    """Targets of a batch, as mixes give them, and the number of each image's group, int64 [B]."""

    own: Tensor
    partner: Tensor
    weight: Tensor
    group: Tensor


@dataclass(frozen=True)
class Groupdro:
    """Weights of groups that follow their losses.

    `groups` is a column of the data, `label`, or several joined by `*`; `step` is how fast the weights follow (the η of
    the paper, which takes 0.01); `adjust` is its generalisation adjustment C, in nats: small groups, whose training loss
    promises too much, count as if theirs were higher by C / √(images of the group). `balanced` draws the images of a batch
    from all groups equally often, with replacement, as algorithm 1 does; else each image is seen once per epoch.
    """

    groups: str
    step: float = 0.01
    adjust: float = 0.0
    balanced: bool = True

    def __post_init__(self) -> None:
        if not all(self.columns):
            raise ValueError(f"expected groups as a column, or several joined by '*', got '{self.groups}'")
        for name in ("step", "adjust"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"expected {name} of at least 0, got {getattr(self, name)}")
            expect_at_most(1_000_000, **{name: getattr(self, name)})

    def __str__(self) -> str:
        return text_form(self)

    @property
    def columns(self) -> list[str]:
        """The columns whose combinations are the groups."""
        return [name.strip() for name in self.groups.split("*")]


def parse_groupdro(text: str) -> Groupdro:
    """The method that a text such as `groupdro(groups=label*scene, step=0.01)` names.

    >>> from snellen.train import parse_groupdro
    >>> parse_groupdro("groupdro(groups=scene)")
    Groupdro(groups='scene', step=0.01, adjust=0.0, balanced=True)
    """
    method: Groupdro = build(read(_PRODUCT.sub(r"\1'\2'", text)), {"groupdro": Groupdro}, "way of training")
    return method


def with_groups(robust: str | None, groups: str | None) -> str | None:
    """The text of `--robust` with the columns of `--groups` in it."""
    if groups is None:
        return robust
    if robust is None or robust.partition("(")[0].strip() != "groupdro":
        raise UserError(f"--groups {groups} needs --robust groupdro, got {robust or 'none'}")
    _, opened, rest = robust.strip().partition("(")
    if re.search(r"\bgroups\s*=", rest):
        raise UserError(f"--groups {groups} and '{robust}' both name groups; give one of them")
    others = rest.rstrip().removesuffix(")").strip() if opened else ""
    return str(parse_groupdro(f"groupdro(groups='{groups}'{', ' + others if others else ''})"))


@dataclass(frozen=True)
class SampleGroups:
    """The groups of some samples: their names, and int64 [samples] which one each belongs to."""

    names: tuple[str, ...]
    members: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """How many samples each has, int64 [groups]; never 0."""
        return np.bincount(self.members, minlength=len(self.names))

    @property
    def fingerprint(self) -> str:
        return key_of([self.names, self.members.tolist()])


def groups_of(data: Dataset, method: Groupdro) -> SampleGroups:
    """The groups that the columns make of the data: every combination of values that occurs, named `sky/ball`."""
    values = [_values(data, name) for name in method.columns]
    joined = ["/".join(parts) for parts in zip(*values)]
    names, members = np.unique(joined, return_inverse=True)
    if len(names) < 2:
        raise UserError(
            f"{data.text}: '{method.groups}' is '{names[0]}' everywhere; groupdro needs at least two groups"
        )
    if len(names) > min(MOST_GROUPS, max(2, len(data) // 2)):
        raise UserError(
            f"{data.text}: '{method.groups}' makes {len(names):,} groups of {len(data):,} images; choose a coarser column"
        )
    return SampleGroups(tuple(map(str, names)), members.astype(np.int64))


def _values(data: Dataset, column: str) -> list[str]:
    samples = data.samples
    if column == "label":
        return [data.classes[label] if label >= 0 else "" for label in samples.labels]
    if column not in samples.columns:
        known = ", ".join(["label", *samples.columns])
        raise UserError(f"{data.text} has no column '{column}' to make groups of; it has: {known}")
    return [str(value) for value in samples.columns[column]]


def balanced_rows(members: Tensor, draws: torch.Generator) -> Tensor:
    """As many rows as there are members, each from a group drawn uniformly and then any of its images."""
    share = 1.0 / torch.bincount(members).double()
    return torch.multinomial(share[members], len(members), replacement=True, generator=draws)


@dataclass
class GroupWeights:
    """The weights of the groups during a training, and the losses they had since `restart`. On the training's device."""

    method: Groupdro
    groups: SampleGroups
    logs: Tensor  # of the weights, but for a constant: products of exponentials neither overflow nor vanish
    sizes: Tensor
    seen: Tensor  # sums of losses and numbers of images, [2, groups]

    @classmethod
    def of(cls, method: Groupdro, groups: SampleGroups, device: Any) -> GroupWeights:
        """Equal weights."""
        sizes = torch.from_numpy(groups.sizes).to(device, torch.float32)
        return cls(method, groups, torch.zeros_like(sizes), sizes, torch.zeros(2, len(sizes), device=device))

    @property
    def weights(self) -> Tensor:
        """The share of each group in the loss, float32 [groups]; they sum to 1."""
        return self.logs.softmax(0)

    def loss(self, losses: Tensor, members: Tensor, team: Team) -> Tensor:
        """The weighted loss of a batch, a scalar, from one loss and one group per image; the weights move first.

        Of several processes each has its share of the batch: group means are those of the whole batch, and the mean of
        the returned losses over the processes is its loss. A group that a batch lacks keeps the weight it had, but for
        the sum's being 1 again.
        """
        one_hot = (members[:, None] == torch.arange(len(self.sizes), device=members.device)).to(losses.dtype)
        sums = one_hot.T @ losses  # not index_add, which on a GPU adds in any order
        total, count = team.mean(torch.stack([sums.detach(), one_hot.sum(0)])) * team.size
        self.seen += torch.stack([total, count])
        there = count.clamp(min=1)
        raised = total / there + self.method.adjust / self.sizes.sqrt()
        self.logs = self.logs + self.method.step * torch.where(count > 0, raised, torch.zeros_like(raised))
        self.logs = self.logs - self.logs.logsumexp(0)
        return team.size * (self.weights * sums / there).sum()

    def restart(self) -> None:
        """Reset the sums of losses, as at the start of an epoch."""
        self.seen = torch.zeros_like(self.seen)

    def summary(self) -> dict[str, dict[str, float | int | None]]:
        """By group: its images, its weight, and its mean loss since `restart` (None where it was not seen)."""
        total, count = self.seen.double().cpu()
        rows = zip(self.groups.names, self.groups.sizes.tolist(), self.weights.tolist(), total.tolist(), count.tolist())
        return {n: {"images": s, "weight": w, "loss": t / c if c else None} for n, s, w, t, c in rows}

    def worst_loss(self) -> float:
        """The largest mean loss of a group since `restart`."""
        total, count = self.seen.double().cpu()
        return float((total / count)[count > 0].max())


def worst_group(groups: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The name of the group with the largest loss."""
    known: Sequence[str] = [name for name, row in groups.items() if row["loss"] is not None]
    return max(known, key=lambda name: groups[name]["loss"], default=None)
