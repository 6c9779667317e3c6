"""What a policy gets and returns: the rows of a snapshot, and decisions."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Durations are in ms.
SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
NEVER = 2**63 - 1

# Shares and weights are in parts per million.
PPM = 1_000_000

# The limit of an application without a limit of costs.
UNLIMITED = 2**63 - 1


class Resource(NamedTuple):
    """A number of things of one kind beside CPUs and memory, such as GPUs."""

    name: str
    type: str  # of a job: empty is any; of a site: empty is none
    count: int
    per: str = ""  # what a job's count is of: "node", "task" or "job"


class Site(NamedTuple):
    """A site of a snapshot."""

    name: str
    rus: int = 0  # share of its CPUs that run jobs, in parts per million
    age: int = 0  # of that figure, in ms
    cpus: int = 0
    free: int = 0  # CPUs that neither run a job nor are tentatively allocated
    max_jobs: int = 0  # most jobs that it takes in this round
    currency: str = ""  # of its costs; empty: it names no prices
    no_energy: bool = False  # whether its costs omit the electricity
    latency: int = 0  # of the link from the deciding site, in ms
    bandwidth: int = 0  # of that link, in bytes a second; 0: none is stated
    marginal_waits: tuple[int, ...] = ()  # extra wait of the second, third ... job of the round, in ms
    resources: tuple[Resource, ...] = ()  # of all its nodes and of the whole site


class Job(NamedTuple):
    """A job of a snapshot. The fields from application on are for policies that decide about applications."""

    id: int
    cpus: int
    wall_time: int = 0  # time limit in ms
    waited: int = 0  # since its submission, in ms
    data: int = 0  # bytes to transfer to a site other than the deciding one
    data_out: int = 0  # bytes to transfer back from it
    user: str = ""  # who submitted it
    account: str = ""  # to which the deciding site maps the user
    name: str = ""  # may be empty
    memory_mb: int = 0  # per node; 0: any
    nodes: int = 0  # at least; 0: any
    resources: tuple[Resource, ...] = ()  # a site that lacks them has declined
    features: str = ""  # of its nodes, as sbatch --constraint has them; a site that lacks them has declined
    exclusive: bool = False  # whether no other job runs on its nodes
    application: int = 0  # index in Snapshot.applications
    together: int = 0  # jobs of one application with one number above 0 start together or not at all
    alpha: int = 0  # weight of the costs of usage and licenses, in parts per million
    gamma: int = 0  # weight of the costs of energy and cooling
    delta: int = 0  # weight of the costs of data


class WaitingRate(NamedTuple):
    """What an application's waiting costs from a time on, until the next rate."""

    start: int  # in ms from now
    per_hour: int  # in millionths


class Application(NamedTuple):
    """Jobs that a user submitted together, with limits and weights."""

    id: int  # of its first job
    beta: int = 0  # weight of the cost of waiting, in parts per million
    max_cost: int = UNLIMITED  # limit of the unweighted costs, those of spent included
    max_time: int = NEVER  # limit in ms from the first submission until all results are back
    elapsed: int = 0  # since the first submission, in ms
    spent: int = 0  # cost of its jobs that have ended or are placed
    committed_until: int = 0  # in ms from now until these have ended and their data are back
    waited_cost: int = 0  # cost of waiting from the first submission until now
    waiting_cost: tuple[WaitingRate, ...] = ()  # from now on


class Outcome(NamedTuple):
    """How a job ended that an earlier decision of this policy placed."""

    job: int  # its ID
    site: str  # name of the site; it may be no site of the snapshot
    decided_at: int = 0  # in ms since the Unix epoch, by the clock of the deciding site
    quoted_wait: int = 0  # the site's awt for the job at that time, in ms
    wait: int = 0  # its wait in the local queue, in ms; NEVER: it did not start
    state: str = "COMPLETED"  # or FAILED, CANCELLED, TIMEOUT, NODE_FAIL
    exit_code: int = 0  # of the script; 0 if a signal ended it or it did not start


class Decision(NamedTuple):
    """Places a job at a site that quoted it. Both are indices of the snapshot."""

    job: int
    site: int | None  # None: the job stays in the grid queue, for the reason
    wait: int  # predicted wait there in ms: the quoted one, and what this round sent there before
    reason: str  # at most 512 bytes; users read it


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a policy may know of a round.

    Sites are sorted by name, and jobs are in the order of the grid queue. The quote of site s for job j is at
    index at(j, s) of awt, ert and cost, and of the parts of the cost.
    """

    sites: Sequence[Site]
    jobs: Sequence[Job]
    awt: Sequence[int]  # approximate wait in ms; NEVER: the site declined, or got no request
    ert: Sequence[int]  # expected run time in ms
    cost: Sequence[int]  # in millionths of the site's currency; may be negative
    in_place: Sequence[bool] = ()  # of each quote: the job would run where its files are, nothing travels; empty: none would
    local_site: int | None = None  # index of the deciding site; None: it is not among the sites
    outcomes: Sequence[Outcome] = ()  # of earlier decisions, in the order in which the jobs ended
    hint: bytes = b""  # what the last decide returned; empty at first and after a restart of the peer

    # For policies that decide about applications; empty for others. The money is in currency.
    currency: str = ""
    applications: Sequence[Application] = ()
    usage_cost: Sequence[int] = ()
    license_cost: Sequence[int] = ()
    energy_cost: Sequence[int] = ()
    data_cost: Sequence[int] = ()

    def at(self, job: int, site: int) -> int:
        """Returns the index of the site's quote for the job."""
        return job * len(self.sites) + site

    def takers(self, job: int) -> Iterator[int]:
        """Yields the sites that quoted the job and take jobs in this round."""
        first = self.at(job, 0)
        for s, site in enumerate(self.sites):
            if self.awt[first + s] != NEVER and site.max_jobs > 0:
                yield s

    def transfer(self, job: int, site: int) -> int:
        """Returns how long the job's data take to the site, in ms."""
        return self._moved(self.jobs[job].data, job, site)

    def transfer_back(self, job: int, site: int) -> int:
        """Returns how long the job's results take back from the site, in ms."""
        return self._moved(self.jobs[job].data_out, job, site)

    def _moved(self, size: int, job: int, site: int) -> int:
        link = self.sites[site]
        if site == self.local_site or size <= 0 or link.bandwidth <= 0:
            return 0
        if self.in_place and self.in_place[self.at(job, site)]:
            return 0
        return plus(link.latency, -(-size * SECOND // link.bandwidth))  # rounded up


def plus(a: int, b: int) -> int:
    """Adds two durations. The sum is at most NEVER."""
    return min(a + b, NEVER)


def format_duration(ms: int) -> str:
    """Formats a duration as Go does: "1h0m0s", "1.5s", "250ms"."""
    if ms == NEVER:
        return "never"
    if 0 < ms < SECOND:
        return f"{ms}ms"
    seconds, rest = divmod(min(ms * 10**6, NEVER), 10**9)  # Go counts nanoseconds
    text = f"{seconds % 60}.{rest:09}".rstrip("0").rstrip(".") + "s"
    if seconds >= 60:
        text = f"{seconds // 60 % 60}m" + text
    if seconds >= 3600:
        text = f"{seconds // 3600}h" + text
    return text


def format_money(micro: int) -> str:
    """Formats millionths exactly: 40,000 is "0.04"."""
    whole, rest = divmod(abs(micro), 10**6)
    return "-" * (micro < 0) + f"{whole}.{rest:06}".rstrip("0").rstrip(".")
