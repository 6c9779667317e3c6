"""Reads the configuration of a plugin, strictly, and notes every mistake with its line and key."""

import decimal
import difflib
import re
import tomllib
from typing import Any

from . import plugin_pb2
from .snapshot import DAY, HOUR, MINUTE, SECOND

_UNITS = {"ms": 1, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
_LONGEST = 100 * 365 * DAY


class Config:
    """A text in TOML. A key that nobody reads is a mistake.

    Each method that reads a key returns the default if the key is missing or its value is invalid; the mistake is
    noted, and the plugin does not start.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._table: dict[str, Any] = {}
        self._read: set[str] = set()
        self._notes: list[plugin_pb2.Note] = []
        self._broken = False  # the text is not TOML
        try:
            self._table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            self._broken = True
            line = re.search(r"at line (\d+)", str(error))  # else the mistake is at the end
            self._note(int(line[1]) if line else text.count("\n") + 1, "", f"not TOML: {error}")

    def duration(self, key: str, default: int, least: int = 1) -> int:
        """Returns a duration in ms. It is written as "30s", "2h" or "1h30m"."""
        value = self._value(key, default)
        if key not in self._table:
            return default
        ms = _milliseconds(value) if isinstance(value, str) else None
        if ms is None:
            self.problem(key, 'is not a valid duration; write a number and a unit in quotes, as "30s", "2h" or "1h30m"')
        elif ms < least:
            self.problem(key, f"is {ms}ms; use {least}ms or more")
        elif ms > _LONGEST:
            self.problem(key, "is more than a hundred years; write less")
        else:
            return ms
        return default

    def integer(self, key: str, default: int, least: int, most: int) -> int:
        """Returns an integer within bounds."""
        value = self._value(key, default)
        if key not in self._table:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.problem(key, "is not an integer")
        elif not least <= value <= most:
            self.problem(key, f"is {value}; use {least} to {most}")
        else:
            return value
        return default

    def boolean(self, key: str, default: bool) -> bool:
        """Returns true or false."""
        value = self._value(key, default)
        if isinstance(value, bool):
            return value
        self.problem(key, "is neither true nor false")
        return default

    def string(self, key: str, default: str) -> str:
        """Returns a string."""
        value = self._value(key, default)
        if isinstance(value, str):
            return value
        self.problem(key, "is not a string; write it in quotes")
        return default

    def problem(self, key: str, text: str) -> None:
        """Notes that the value of a key is wrong: the plugin does not start."""
        self._note(self._line(key), key, text)

    def warn(self, key: str, text: str) -> None:
        """Notes that the value of a key is odd. The host logs it."""
        self._note(self._line(key), key, text, "SEVERITY_WARNING")

    def notes(self) -> list[plugin_pb2.Note]:
        """Returns all notes in the order of the lines, once all keys have been read."""
        unknown = [] if self._broken else sorted(self._table.keys() - self._read)
        for key in unknown:
            near = difflib.get_close_matches(key, sorted(self._read), n=1)
            hint = f'did you mean "{near[0]}"?' if near else "allowed here: " + ", ".join(sorted(self._read))
            self.problem(key, f"unknown key; {hint}")
            self._read.add(key)
        return sorted(self._notes, key=lambda note: (note.line, note.key))

    def _value(self, key: str, default: Any) -> Any:
        self._read.add(key)
        return self._table.get(key, default)

    def _note(self, line: int, key: str, text: str, severity: str = "SEVERITY_ERROR") -> None:
        self._notes.append(plugin_pb2.Note(severity=severity, line=line, key=key, text=text))

    def _line(self, key: str) -> int:
        """Returns the line of the key or its table, which the parser does not tell; 0: it is not found."""
        begins = re.compile(rf"""[\s\["']*{re.escape(key)}(?![\w-])""")
        return next((n for n, line in enumerate(self._text.splitlines(), 1) if begins.match(line)), 0)


def _milliseconds(text: str) -> int | None:
    """Returns a duration that is written in units, rounded up; None: it is not valid."""
    if text == "0":
        return 0
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text, re.ASCII)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    total = sum((decimal.Decimal(number) * _UNITS[unit] for number, unit in parts), decimal.Decimal())
    return int(total.to_integral_value(decimal.ROUND_CEILING))
