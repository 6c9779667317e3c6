"""Serves a policy as a plugin: the handshake of go-plugin, its health service, and Switchyard's services."""

import concurrent.futures
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar

import grpc

from . import log as host_log
from . import plugin_pb2, policy_pb2, wire
from .config import Config
from .policy import Host, Policy

_COOKIE = ("SWITCHYARD_PLUGIN", "4d6f7665206a6f62732c206e6f7420706170657273")
_PROTOCOL_VERSION = 1
_MAX_MESSAGE = 256 << 20  # bytes

_log = logging.getLogger(__name__)

_Settings = TypeVar("_Settings")


def serve(
    make: Callable[[_Settings, Host], Policy],
    *,
    read: Callable[[Config], _Settings],
    name: str,
    version: str,
    about: str,
) -> NoReturn:
    """Serves a policy until the host ends this process. Never returns.

    read reads the configuration and does nothing else: the host also calls it to validate a configuration. make makes
    the policy from what read returned; the host reports an exception of make as an error of the configuration. name
    has lower case letters, digits and hyphens.
    """
    if os.environ.get(_COOKIE[0]) != _COOKIE[1]:
        sys.stderr.write(
            f"{name} {version}, a policy plugin of Switchyard: {about}\n\n"
            "A peer or the simulator starts it; it is no command for people. To check it:\n\n"
            f"    switchyard plugin check --no-tls {os.path.abspath(sys.argv[0])}\n"
        )
        sys.exit(2)
    host_log.configure()
    server = grpc.server(
        concurrent.futures.ThreadPoolExecutor(max_workers=4),
        handlers=_Plugin(make, read, name, version, about).services(),
        options=[("grpc.max_receive_message_length", _MAX_MESSAGE), ("grpc.max_send_message_length", _MAX_MESSAGE)],
    )
    socket = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "plugin.sock")
    server.add_insecure_port("unix:" + socket)
    server.start()
    host = os.getppid()  # before it can know of this process, so that its end is not missed
    # go-plugin's version, Switchyard's, the socket, what is spoken there; no certificate.
    print(f"1|{_PROTOCOL_VERSION}|unix|{socket}|grpc|", flush=True)
    sys.stdout = sys.stderr
    while os.getppid() == host:  # else the host has gone, and no other host will find this process
        time.sleep(1)
    os._exit(0)


class _StatusError(Exception):
    """An error with a status code of gRPC."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code


class _Plugin(Generic[_Settings]):
    """The services of a plugin process."""

    def __init__(
        self,
        make: Callable[[_Settings, Host], Policy],
        read: Callable[[Config], _Settings],
        name: str,
        version: str,
        about: str,
    ) -> None:
        self._make = make
        self._read = read
        self._policy: Policy | None = None
        self._info = plugin_pb2.InfoResponse(
            kind="policy", name=name, version=version, about=about, services=["switchyard.policy.v1.Policy"]
        )

    def services(self) -> list[grpc.GenericRpcHandler]:
        return [
            _service(
                "switchyard.plugin.v1.Base",
                Info=(plugin_pb2.InfoRequest, lambda _: self._info),
                Validate=(plugin_pb2.ValidateRequest, self._validate),
                Configure=(plugin_pb2.ConfigureRequest, self._configure),
                Shutdown=(plugin_pb2.ShutdownRequest, lambda _: plugin_pb2.ShutdownResponse()),
            ),
            _service(
                "switchyard.policy.v1.Policy",
                Describe=(policy_pb2.DescribeRequest, self._describe),
                Decide=(policy_pb2.DecideRequest, self._decide),
            ),
            _service("grpc.health.v1.Health", Check=(_Health, _Health.check)),
        ]

    def _settings(self, text: str) -> tuple[_Settings, list[plugin_pb2.Note]]:
        """Reads a configuration. The notes are all that is wrong or odd with it."""
        config = Config(text)
        settings = self._read(config)
        return settings, config.notes()

    def _validate(self, request: plugin_pb2.ValidateRequest) -> plugin_pb2.ValidateResponse:
        return plugin_pb2.ValidateResponse(notes=self._settings(request.config)[1])

    def _configure(self, request: plugin_pb2.ConfigureRequest) -> plugin_pb2.ConfigureResponse:
        if self._policy:
            raise _StatusError(grpc.StatusCode.FAILED_PRECONDITION, "the plugin is configured already")
        settings, notes = self._settings(request.config)
        if not any(note.severity == plugin_pb2.Note.SEVERITY_ERROR for note in notes):
            host = Host(site=request.site, state_dir=request.state_dir, seed=request.seed, software=request.host)
            try:
                self._policy = self._make(settings, host)
            except Exception as error:
                _log.exception("the policy cannot be made")
                notes.append(plugin_pb2.Note(severity=plugin_pb2.Note.SEVERITY_ERROR, text=_text(error)))
        return plugin_pb2.ConfigureResponse(notes=notes)

    def _configured(self) -> Policy:
        if not self._policy:
            raise _StatusError(grpc.StatusCode.UNAVAILABLE, "the plugin is not configured yet")
        return self._policy

    def _describe(self, _: policy_pb2.DescribeRequest) -> policy_pb2.DescribeResponse:
        return wire.describe(self._info.name, self._configured())

    def _decide(self, request: policy_pb2.DecideRequest) -> policy_pb2.DecideResponse:
        return wire.write_decisions(*self._configured().decide(wire.read_snapshot(request)))


class _Health:
    """The messages of grpc.health.v1, of which a plugin needs one answer."""

    def __init__(self, wire_format: bytes) -> None:
        self._wire_format = wire_format

    @classmethod
    def FromString(cls, wire_format: bytes) -> "_Health":  # named as the methods of messages
        return cls(wire_format)

    def SerializeToString(self) -> bytes:
        return self._wire_format

    def check(self) -> "_Health":
        if self._wire_format not in (b"", b"\x0a\x06plugin"):  # all services, or the one of go-plugin
            raise _StatusError(grpc.StatusCode.NOT_FOUND, "unknown service")
        return _Health(b"\x08\x01")  # SERVING


def _service(name: str, **methods: tuple[Any, Callable[[Any], Any]]) -> grpc.GenericRpcHandler:
    """Returns a service. Each method takes a message of a class and returns another message."""
    return grpc.method_handlers_generic_handler(
        name,
        {
            method: grpc.unary_unary_rpc_method_handler(
                _guarded(call),
                request_deserializer=request.FromString,
                response_serializer=lambda response: response.SerializeToString(),
            )
            for method, (request, call) in methods.items()
        },
    )


def _guarded(call: Callable[[Any], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
    """Turns exceptions into status codes. The log has the stack."""

    def handler(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return call(request)
        except _StatusError as error:
            code, text = error.code, str(error)
        except Exception as error:
            _log.exception("a call failed")
            code, text = grpc.StatusCode.INTERNAL, _text(error)
        context.abort(code, text)

    return handler


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
