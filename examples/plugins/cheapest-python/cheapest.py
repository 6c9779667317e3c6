#!/usr/bin/python3 -B
"""The policy of ../cheapest in Python.

A job goes where it costs least, among the sites that start it soon enough. It decides exactly as the Go one does.
"""

import dataclasses
from collections.abc import Sequence

import switchyard_plugin as switchyard
from switchyard_plugin import NEVER, Config, Decision, Host, Job, Snapshot, format_duration, format_money, plus


class Cheapest(switchyard.Policy):
    """Chooses the cheapest site that starts a job within a limit, else the one that ends it first."""

    def __init__(self, wait_limit: int, _: Host) -> None:
        self.wait_limit = wait_limit  # in ms

    def params(self) -> dict[str, str]:
        """Returns the limit."""
        return {"wait_limit_ms": str(self.wait_limit)}

    def decide(self, snapshot: Snapshot) -> tuple[list[Decision], bytes]:
        """Places the jobs in the order of the queue. One that no site takes stays in it."""
        this_round = Round(snapshot)
        decisions = []
        for j, job in enumerate(snapshot.jobs):
            offers = this_round.offers(j, job)
            if not offers:
                continue
            best, reason = self.choose(offers)
            decisions.append(Decision(j, best.site, best.wait, reason))
            this_round.send(j, job, best.site)
        return decisions, b""

    def choose(self, offers: Sequence["Offer"]) -> tuple["Offer", str]:
        """Returns the best offer, and why it is."""
        limit = format_duration(self.wait_limit)
        soon = [o for o in offers if o.wait <= self.wait_limit]
        if not soon:
            best = min(offers, key=Offer.faster)
            turnaround = format_duration(best.turnaround)
            return best, f"no site starts it within {limit}; least turnaround, {turnaround}"
        best = min(soon, key=Offer.cheaper)
        if best.no_price:
            return best, (
                f"no site that starts it within {limit} has a price to compare; "
                f"least turnaround, {format_duration(best.turnaround)}"
            )
        return best, (
            f"cheapest of those that start it within {limit} ({len(soon)} of {len(offers)} sites): "
            f"{format_money(best.cost)} {best.currency}, wait {format_duration(best.wait)}"
        )


@dataclasses.dataclass(slots=True)
class Offer:
    """What one site offers one job, now that the round has sent others there."""

    site: int
    wait: int
    turnaround: int
    no_price: bool  # that could be compared
    cost: int  # 0 without a price
    currency: str
    sent: int  # jobs that the round has sent there
    away: bool  # it is not the local site

    def cheaper(self) -> tuple[bool, int, tuple[int, int, bool, int]]:
        """Orders offers by their price; those without one come last."""
        return self.no_price, self.cost, self.faster()

    def faster(self) -> tuple[int, int, bool, int]:
        """Orders offers by their turnaround, then spreads the round's jobs."""
        return self.turnaround, self.sent, self.away, self.site


class Round:
    """What a round has sent where so far."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.jobs = [0] * len(snapshot.sites)
        self.free = [site.free for site in snapshot.sites]  # CPUs that are left
        self.delay = [0] * len(snapshot.sites)  # the jobs' work, spread over the whole machine
        self.currency = self.compared_currency()

    def compared_currency(self) -> str:
        """Returns the local site's currency or, without one, that of the first site that names prices."""
        sites, local = self.snapshot.sites, self.snapshot.local_site
        own = "" if local is None else sites[local].currency
        return own or next((site.currency for site in sites if site.currency), "")

    def offers(self, j: int, job: Job) -> list[Offer]:
        """Returns those of all sites that quote the job and still take one."""
        snapshot, offers = self.snapshot, []
        for s, site in enumerate(snapshot.sites):
            at = snapshot.at(j, s)
            wait = snapshot.awt[at]
            if wait == NEVER or self.jobs[s] >= site.max_jobs:
                continue
            if job.cpus > self.free[s]:
                wait = plus(wait, self.delay[s])
            no_price = not site.currency or site.currency != self.currency
            offers.append(
                Offer(
                    site=s,
                    wait=wait,
                    turnaround=plus(wait, snapshot.ert[at]),
                    no_price=no_price,
                    cost=0 if no_price else snapshot.cost[at],
                    currency=site.currency,
                    sent=self.jobs[s],
                    away=s != snapshot.local_site,
                )
            )
        return offers

    def send(self, j: int, job: Job, s: int) -> None:
        """Notes that the round sends the job to the site."""
        site = self.snapshot.sites[s]
        run = self.snapshot.ert[self.snapshot.at(j, s)]
        if run != NEVER and job.cpus > 0 and site.cpus > 0:
            run = -(-run * job.cpus // site.cpus)  # rounded up
        self.jobs[s] += 1
        self.free[s] = max(0, self.free[s] - job.cpus)
        self.delay[s] = plus(self.delay[s], run)


def read(config: Config) -> int:
    """Returns the limit of the configuration, in ms."""
    return config.duration("wait_limit", default=switchyard.HOUR)


if __name__ == "__main__":
    switchyard.serve(
        Cheapest,
        read=read,
        name="cheapest",
        version="1.0.0",
        about="the cheapest site among those that start a job within a limit",
    )
