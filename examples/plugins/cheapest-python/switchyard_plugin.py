"""What a policy plugin of Switchyard in Python needs, for any policy.

    import switchyard_plugin as switchyard

    class Mine:
        initiations = switchyard.INITIATIONS

        def __init__(self, config):         # reads the configuration, and does nothing else
            self.limit = config.duration("limit", switchyard.HOUR)

        def params(self):                   # what runs with equal ones have in common
            return {"limit_ms": str(self.limit)}

        def decide(self, snapshot):         # a Decision for each job that is placed
            yield switchyard.Decision(job=0, site=0, wait=0, reason="it is the first one")

    switchyard.serve(Mine, name="mine", version="1.0.0", about="the first job at the first site")

docs/plugins.md says what a policy must do. This module speaks go-plugin's handshake and
health service and Switchyard's own services, by gRPC over a unix socket without TLS: the
plugin is to be configured with mtls = false. All times are whole milliseconds, all money
is in millionths. Standard output belongs to the protocol; print() goes to standard error,
which the host logs.

Needs Python 3.11, grpcio and protobuf (Debian: python3-grpcio, python3-protobuf).
"""

import concurrent.futures
import dataclasses
import os
import sys
import time
import traceback
import typing

import grpc

import plugin_pb2
import policy_pb2
from switchyard_config import Config

MINUTE, HOUR = 60_000, 3_600_000
NEVER = 2**63 - 1  # the wait of a job that a site declined

INITIATIONS = ("sender", "receiver", "symmetric", "cycle")

PROTOCOL_VERSION = 1
MAX_MESSAGE = 256 << 20  # bytes
MAX_REASON = 512  # bytes


@dataclasses.dataclass(slots=True, frozen=True)
class Site:
    """One site of a snapshot."""

    name: str
    rus: int  # utilisation in parts per million
    age: int  # of that, in ms
    cpus: int
    free: int  # CPUs that neither run a job nor are promised to one
    max_jobs: int  # jobs that it takes this round
    currency: str  # of its costs; empty: it names no prices


@dataclasses.dataclass(slots=True, frozen=True)
class Job:
    """One job of a snapshot."""

    id: int
    cpus: int
    wall_time: int  # limit in ms
    waited: int  # since it was submitted, in ms


@dataclasses.dataclass(slots=True, frozen=True)
class Snapshot:
    """All that a policy may know. The quote of site s for job j is at j * len(sites) + s."""

    self: int  # index of the deciding site; -1: it is not among them
    sites: list[Site]
    jobs: list[Job]
    awt: list[int]  # expected wait in ms; NEVER: declined, or not asked
    ert: list[int]  # expected run time in ms
    cost: list[int]  # in millionths of the site's currency


class Decision(typing.NamedTuple):
    """Places a job at a site that quotes it; both are indices of the snapshot."""

    job: int
    site: int
    wait: int  # expected there, in ms
    reason: str  # for people


def plus(a, b):
    """Adds two spans; NEVER absorbs."""
    return min(a + b, NEVER)


def span(ms):
    """Prints a span as Go does: "1h0m0s", "1.5s", "250ms"."""
    if ms == NEVER:
        return "never"
    if 0 < ms < 1000:
        return f"{ms}ms"
    seconds, rest = divmod(min(ms * 10**6, NEVER), 10**9)  # Go counts nanoseconds
    text = f"{seconds % 60}.{rest:09}".rstrip("0").rstrip(".") + "s"
    if seconds >= 60:
        text = f"{seconds // 60 % 60}m" + text
    if seconds >= 3600:
        text = f"{seconds // 3600}h" + text
    return text


def amount(micro):
    """Prints an amount of money exactly: 40,000 millionths are "0.04"."""
    whole, rest = divmod(abs(micro), 10**6)
    return "-" * (micro < 0) + f"{whole}.{rest:06}".rstrip("0").rstrip(".")


def serve(policy, *, name, version, about):
    """Serves the policy until the host ends this process. Never returns."""
    if os.environ.get("SWITCHYARD_PLUGIN") != "4d6f7665206a6f62732c206e6f7420706170657273":
        path = os.path.abspath(sys.argv[0])
        sys.stderr.write(
            f"{name} {version}, a policy plugin of Switchyard: {about}\n\n"
            "It is started by a peer or the simulator, and is no command for people. To see\n"
            f"whether it works:\n\n    switchyard plugin check --no-tls {path}\n"
        )
        sys.exit(2)
    server = grpc.server(
        concurrent.futures.ThreadPoolExecutor(max_workers=4),
        handlers=Plugin(policy, name, version, about).services(),
        options=[("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.max_send_message_length", MAX_MESSAGE)],
    )
    socket = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "plugin.sock")
    server.add_insecure_port("unix:" + socket)
    server.start()
    host = os.getppid()  # before it can know of us, and so before it can go unseen
    # go-plugin's version, Switchyard's, the socket, what is spoken there; no certificate.
    print(f"1|{PROTOCOL_VERSION}|unix|{socket}|grpc|", flush=True)
    sys.stdout = sys.stderr
    while os.getppid() == host:  # else the host has gone, and no second one will find us
        time.sleep(1)
    os._exit(0)


class Refusal(Exception):
    """An error with a status code of gRPC."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Plugin:
    """The services of a plugin process."""

    def __init__(self, make, name, version, about):
        self.make, self.policy = make, None
        self.info = plugin_pb2.InfoResponse(
            kind="policy", name=name, version=version, about=about, services=["switchyard.policy.v1.Policy"]
        )

    def services(self):
        return [
            service(
                "switchyard.plugin.v1.Base",
                Info=(plugin_pb2.InfoRequest, lambda _: self.info),
                Validate=(plugin_pb2.ValidateRequest, self.validate),
                Configure=(plugin_pb2.ConfigureRequest, self.configure),
                Shutdown=(plugin_pb2.ShutdownRequest, lambda _: plugin_pb2.ShutdownResponse()),
            ),
            service(
                "switchyard.policy.v1.Policy",
                Describe=(policy_pb2.DescribeRequest, self.describe),
                Decide=(policy_pb2.DecideRequest, self.decide),
            ),
            service("grpc.health.v1.Health", Check=(Health, Health.check)),
        ]

    def read(self, text):
        """Makes the policy of a configuration; the notes are all that is wrong with it."""
        config = Config(text)
        policy = None if config.notes else self.make(config)
        return policy, config.finish()

    def validate(self, request):
        return plugin_pb2.ValidateResponse(notes=self.read(request.config)[1])

    def configure(self, request):
        if self.policy:
            raise Refusal(grpc.StatusCode.FAILED_PRECONDITION, "the plugin is configured already")
        policy, notes = self.read(request.config)
        if not notes:
            self.policy = policy
        return plugin_pb2.ConfigureResponse(notes=notes)

    def configured(self):
        if not self.policy:
            raise Refusal(grpc.StatusCode.UNAVAILABLE, "the plugin is not configured yet")
        return self.policy

    def describe(self, _):
        policy = self.configured()
        return policy_pb2.DescribeResponse(
            name=self.info.name,
            initiations=[policy_pb2.Initiation.Value("INITIATION_" + one.upper()) for one in policy.initiations],
            params=[policy_pb2.Param(name=k, value=v) for k, v in sorted(policy.params().items())],
        )

    def decide(self, request):
        response = policy_pb2.DecideResponse()
        for d in self.configured().decide(read_snapshot(request)):
            response.job.append(d.job)
            response.site.append(d.site)
            response.wait.append(-1 if d.wait == NEVER else d.wait)
            response.reason.append(d.reason.encode()[:MAX_REASON].decode(errors="ignore"))
        return response


def read_snapshot(m):
    def never(column):
        return [NEVER if n == -1 else n for n in column]

    return Snapshot(
        self=m.self,
        sites=[
            Site(*row)
            for row in zip(
                m.site_name, m.site_rus, never(m.site_age), m.site_cpus, m.site_free, m.site_max_jobs, m.site_currency
            )
        ],
        jobs=[Job(*row) for row in zip(m.job_id, m.job_cpus, never(m.job_wall_time), never(m.job_waited))],
        awt=never(m.awt),
        ert=never(m.ert),
        cost=list(m.cost),
    )


class Health:
    """The messages of grpc.health.v1, of which a plugin needs one answer."""

    def __init__(self, wire):
        self.wire = wire

    FromString = classmethod(lambda cls, wire: cls(wire))

    def check(self):
        if self.wire not in (b"", b"\x0a\x06plugin"):
            raise Refusal(grpc.StatusCode.NOT_FOUND, "no such service")
        return Health(b"\x08\x01")  # SERVING

    def SerializeToString(self):
        return self.wire


def service(name, **methods):
    """A service whose methods take a message of a class and return another one."""
    return grpc.method_handlers_generic_handler(
        name,
        {
            method: grpc.unary_unary_rpc_method_handler(
                guarded(call),
                request_deserializer=request.FromString,
                response_serializer=lambda response: response.SerializeToString(),
            )
            for method, (request, call) in methods.items()
        },
    )


def guarded(call):
    """Turns exceptions into status codes, with the stack on standard error."""

    def handler(request, context):
        try:
            return call(request)
        except Refusal as refusal:
            code, text = refusal.code, str(refusal)
        except Exception as fault:
            traceback.print_exc()
            code, text = grpc.StatusCode.INTERNAL, f"{type(fault).__name__}: {fault}"
        context.abort(code, text)

    return handler
