"""What an author implements, and what the host says of itself."""

import abc
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .snapshot import Decision, Snapshot

# What opens rounds.
INITIATIONS = ("sender", "receiver", "symmetric", "cycle")


class Host(NamedTuple):
    """What the host gives to a plugin beside its configuration."""

    site: str = ""  # that the plugin serves; empty outside a peer
    state_dir: str = ""  # directory of the plugin's own, which outlives it; empty: it has none
    seed: int = 0  # of all random choices
    software: str = ""  # name and version of the host


class Policy(abc.ABC):
    """Decides where jobs go.

    The host calls decide from several threads at once. Equal snapshots get equal decisions: no clock, no random source
    but one that is made from Host.seed, and no state but the hint.
    """

    initiations: Sequence[str] = INITIATIONS  # that the policy serves
    skips_round_below_threshold = False  # a job with a short local wait is committed locally without a round
    local_only = False  # the policy never sends a job to another site, so no quotes are requested
    decides_applications = False  # snapshots have applications, all shapes of jobs, and the parts of costs
    energy_pricing = ""  # how sites compute the energy term of quotes: "" by the hour, "now" or "twoprice"
    marginal_jobs = 0  # of a round, for which sites quote marginal waits; at most 64

    def params(self) -> Mapping[str, str]:
        """Returns the parameters. Policies of one name with equal ones decide alike."""
        return {}

    @abc.abstractmethod
    def decide(self, snapshot: Snapshot) -> tuple[Sequence[Decision], bytes]:
        """Returns at most one decision for each job, and the hint of the next snapshot.

        A job without a decision stays in the grid queue and gets another round. The hint has at most 64 KiB. An
        exception makes the call fail: the host logs it, and the fallback policy decides the round.
        """
