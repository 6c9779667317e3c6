"""Writes the log of a plugin as hosts read it: JSON lines on standard error."""

import json
import logging
import sys

_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class JSONFormatter(logging.Formatter):
    """Formats a record as Go's slog does. The host keeps level and attributes.

    Attributes are what logging calls extra: log.info("configured", extra={"seed": 1}).
    """

    def format(self, record: logging.LogRecord) -> str:
        """Formats a record as one line."""
        fields = {
            "level": "ERROR" if record.levelno >= logging.ERROR else record.levelname,
            "msg": record.getMessage(),
            **{key: value for key, value in record.__dict__.items() if key not in _STANDARD},
        }
        if record.exc_info:
            fields["stack"] = self.formatException(record.exc_info)
        return json.dumps(fields, default=str)


def configure() -> None:
    """Sends the root logger to the host, unless the author has configured it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JSONFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
