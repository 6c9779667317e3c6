#!/usr/bin/python3 -B
"""The policy of ../cheapest in Python: a job goes where it costs least, among the sites
that start it soon enough. It decides exactly as the Go one does."""

import dataclasses

import switchyard_plugin as switchyard
from switchyard_plugin import NEVER, Decision, amount, plus, span


class Cheapest:
    """Change this class; what it uses of switchyard_plugin serves any policy."""

    initiations = switchyard.INITIATIONS

    def __init__(self, config):
        self.wait_limit = config.duration("wait_limit", default=switchyard.HOUR)

    def params(self):
        return {"wait_limit_ms": str(self.wait_limit)}

    def decide(self, snapshot):
        sites = Round(snapshot)
        for j, job in enumerate(snapshot.jobs):
            offers = sites.offers(j, job)
            if offers:  # else the job stays in the queue
                best, reason = self.choose(offers)
                yield Decision(j, best.site, best.wait, reason)
                sites.send(j, job, best.site)

    def choose(self, offers):
        limit = span(self.wait_limit)
        soon = [o for o in offers if o.wait <= self.wait_limit]
        if not soon:
            best = min(offers, key=Offer.faster)
            return best, f"no site starts it within {limit}; least turnaround, {span(best.turnaround)}"
        best = min(soon, key=Offer.cheaper)
        if best.no_price:
            return best, (
                f"no site that starts it within {limit} has a price to compare; "
                f"least turnaround, {span(best.turnaround)}"
            )
        return best, (
            f"cheapest of those that start it within {limit} ({len(soon)} of {len(offers)} sites): "
            f"{amount(best.cost)} {best.currency}, wait {span(best.wait)}"
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
    away: bool  # it is not the own site

    def cheaper(self):
        """Orders offers by their price; those without one come last."""
        return self.no_price, self.cost, self.faster()

    def faster(self):
        """Orders offers by their turnaround, then spreads the round's jobs."""
        return self.turnaround, self.sent, self.away, self.site


class Round:
    """What a round has sent where so far."""

    def __init__(self, snapshot):
        self.snapshot = snapshot
        self.jobs = [0] * len(snapshot.sites)
        self.free = [site.free for site in snapshot.sites]  # CPUs that are left
        self.delay = [0] * len(snapshot.sites)  # the jobs' work, spread over the whole machine
        self.currency = self.own_currency()

    def own_currency(self):
        """The own site's or, without one, that of the first site that names prices."""
        own = self.snapshot.sites[self.snapshot.self].currency if self.snapshot.self >= 0 else ""
        return own or next((site.currency for site in self.snapshot.sites if site.currency), "")

    def offers(self, j, job):
        """Those of all sites that quote the job and still take one."""
        snapshot, offers = self.snapshot, []
        for s, site in enumerate(snapshot.sites):
            at = j * len(snapshot.sites) + s
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
                    away=s != snapshot.self,
                )
            )
        return offers

    def send(self, j, job, s):
        """Notes that the round sends the job to the site."""
        site = self.snapshot.sites[s]
        run = self.snapshot.ert[j * len(self.snapshot.sites) + s]
        if run != NEVER and job.cpus > 0 and site.cpus > 0:
            run = -(-run * job.cpus // site.cpus)  # rounded up
        self.jobs[s] += 1
        self.free[s] = max(0, self.free[s] - job.cpus)
        self.delay[s] = plus(self.delay[s], run)


if __name__ == "__main__":
    switchyard.serve(
        Cheapest,
        name="cheapest",
        version="1.0.0",
        about="the cheapest site among those that start a job within a limit",
    )
