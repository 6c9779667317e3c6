"""Converts the messages of the policy protocol. policy.proto says what each field means."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from . import policy_pb2
from .policy import Policy
from .snapshot import NEVER, UNLIMITED, Application, Decision, Job, Outcome, Resource, Site, Snapshot, WaitingRate

MAX_REASON = 512  # bytes

_NO_SITE = 2**32 - 1

_Row = TypeVar("_Row", Site, Job, Application)


def read_snapshot(m: policy_pb2.DecideRequest) -> Snapshot:
    """Returns the snapshot of a request."""
    count = len(m.awt)
    return Snapshot(
        local_site=None if m.self < 0 else m.self,
        sites=_rows(
            Site,
            name=m.site_name,
            rus=m.site_rus,
            age=_durations(m.site_age),
            cpus=m.site_cpus,
            free=m.site_free,
            max_jobs=m.site_max_jobs,
            currency=m.site_currency,
            no_energy=m.site_no_energy,
            latency=_durations(m.site_latency),
            bandwidth=m.site_bandwidth,
            marginal_waits=_parts(m.site_marginal_waits, _durations(m.marginal_wait)),
            resources=_parts(m.site_resources, _resources(m.site_resource_kind, m.site_resource_count)),
        ),
        jobs=_rows(
            Job,
            id=m.job_id,
            cpus=m.job_cpus,
            wall_time=_durations(m.job_wall_time),
            waited=_durations(m.job_waited),
            data=m.job_data,
            data_out=m.job_data_out,
            user=m.job_user,
            account=m.job_account,
            name=m.job_name,
            memory_mb=m.job_memory_mb,
            nodes=m.job_nodes,
            resources=_parts(m.job_resources, _resources(m.job_resource_kind, m.job_resource_count, m.job_resource_per)),
            features=m.job_features,
            exclusive=m.job_exclusive,
            application=m.job_application,
            together=m.job_together,
            alpha=m.job_alpha,
            gamma=m.job_gamma,
            delta=m.job_delta,
        ),
        awt=_durations(m.awt),
        ert=_durations(m.ert),
        cost=list(m.cost),
        in_place=list(m.in_place),
        outcomes=[_outcome(one) for one in m.outcomes],
        hint=m.hint,
        currency=m.currency,
        applications=_rows(
            Application,
            id=m.application_id,
            beta=m.application_beta,
            max_cost=[UNLIMITED if n == -1 else n for n in m.application_max_cost],
            max_time=_durations(m.application_max_time),
            elapsed=_durations(m.application_elapsed),
            spent=m.application_spent,
            committed_until=_durations(m.application_committed_until),
            waited_cost=m.application_waited_cost,
            waiting_cost=_parts(m.application_rates, map(WaitingRate, _durations(m.rate_from), m.rate_per_hour)),
        ),
        usage_cost=_part_of_cost(m, m.usage_cost, count),
        license_cost=_part_of_cost(m, m.license_cost, count),
        energy_cost=_part_of_cost(m, m.energy_cost, count),
        data_cost=_part_of_cost(m, m.data_cost, count),
    )


def write_decisions(decisions: Iterable[Decision], hint: bytes) -> policy_pb2.DecideResponse:
    """Returns the response that has these decisions. Reasons that are too long are cut."""
    response = policy_pb2.DecideResponse(hint=hint)
    for d in decisions:
        response.job.append(d.job)
        response.site.append(_NO_SITE if d.site is None else d.site)
        response.wait.append(-1 if d.wait == NEVER else d.wait)
        response.reason.append(d.reason.encode(errors="replace")[:MAX_REASON].decode(errors="ignore"))
    return response


def describe(name: str, policy: Policy) -> policy_pb2.DescribeResponse:
    """Returns the description of a policy."""
    return policy_pb2.DescribeResponse(
        name=name,
        initiations=[policy_pb2.Initiation.Value("INITIATION_" + one.upper()) for one in policy.initiations],
        params=[policy_pb2.Param(name=key, value=value) for key, value in sorted(policy.params().items())],
        skip_round_below_threshold=policy.skips_round_below_threshold,
        local_only=policy.local_only,
        decides_applications=policy.decides_applications,
        energy_pricing=policy.energy_pricing,
        marginal_jobs=policy.marginal_jobs,
    )


def _rows(kind: type[_Row], **columns: Sequence[Any]) -> list[_Row]:
    """Returns the rows of columns. An absent column has the default of its field in each row."""
    count = len(columns[kind._fields[0]])
    dense = (columns[field] or [kind._field_defaults.get(field)] * count for field in kind._fields)
    return [kind(*row) for row in zip(*dense, strict=True)]


def _parts(lengths: Sequence[int], values: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Splits values into one tuple for each length."""
    rest = iter(values)
    return [tuple(itertools.islice(rest, length)) for length in lengths]


def _resources(kinds: Iterable[str], counts: Iterable[int], per: Iterable[str] = ()) -> Iterator[Resource]:
    for kind, count, of in itertools.zip_longest(kinds, counts, per, fillvalue=""):
        name, _, type_ = kind.partition(":")
        yield Resource(name, type_, count, of)


def _durations(column: Sequence[int]) -> list[int]:
    return [NEVER if n == -1 else n for n in column]


def _part_of_cost(m: policy_pb2.DecideRequest, column: Sequence[int], count: int) -> list[int]:
    """Returns a column of parts of costs, which is absent if all are 0 and for most policies."""
    return list(column) or ([0] * count if m.application_id else [])


def _outcome(m: policy_pb2.Outcome) -> Outcome:
    return Outcome(
        job=m.job,
        site=m.site,
        decided_at=m.decided_at_ms,
        quoted_wait=NEVER if m.quoted_wait_ms == -1 else m.quoted_wait_ms,
        wait=NEVER if m.wait_ms == -1 else m.wait_ms,
        state=m.state,
        exit_code=m.exit_code,
    )
