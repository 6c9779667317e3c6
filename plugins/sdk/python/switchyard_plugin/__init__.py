"""A policy plugin of Switchyard in Python.

    import switchyard_plugin as switchyard


    class First(switchyard.Policy):
        def __init__(self, wait_limit, host):
            self.wait_limit = wait_limit

        def decide(self, snapshot):
            decisions = []
            for j in range(len(snapshot.jobs)):
                for s in snapshot.takers(j):
                    wait = snapshot.awt[snapshot.at(j, s)]
                    if wait <= self.wait_limit:
                        decisions.append(switchyard.Decision(j, s, wait, "the first site"))
                        break
            return decisions, b""


    def read(config):
        return config.duration("wait_limit", default=switchyard.HOUR)


    switchyard.serve(First, read=read, name="first", version="1.0.0", about="the first site that starts a job soon")

docs/plugins.md of Switchyard says what a policy must do. `switchyard plugin new --language python policy NAME` writes a
plugin with its configuration, its log, its state and a test.

This package speaks the handshake of go-plugin, its health service and Switchyard's own services, by gRPC over a unix
socket without TLS: the plugin is configured with mtls = false. All times are whole milliseconds, all money is in whole
millionths. Standard output belongs to the protocol: print() and logging go to standard error, which the host logs.

It needs Python 3.11, grpcio and protobuf (Debian: python3-grpcio, python3-protobuf).
"""

from .config import Config
from .policy import INITIATIONS, Host, Policy
from .server import serve
from .snapshot import (
    DAY,
    HOUR,
    MINUTE,
    NEVER,
    PPM,
    SECOND,
    UNLIMITED,
    Application,
    Decision,
    Job,
    Outcome,
    Resource,
    Site,
    Snapshot,
    WaitingRate,
    format_duration,
    format_money,
    plus,
)

__all__ = [
    "DAY",
    "HOUR",
    "INITIATIONS",
    "MINUTE",
    "NEVER",
    "PPM",
    "SECOND",
    "UNLIMITED",
    "Application",
    "Config",
    "Decision",
    "Host",
    "Job",
    "Outcome",
    "Policy",
    "Resource",
    "Site",
    "Snapshot",
    "WaitingRate",
    "format_duration",
    "format_money",
    "plus",
    "serve",
]
