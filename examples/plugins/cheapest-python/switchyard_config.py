"""Reads a plugin's configuration, strictly, and notes every mistake with its line and key."""

import decimal
import re
import tomllib

import plugin_pb2

UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
LONGEST = 100 * 365 * UNITS["d"]


class Config:
    """A text in TOML. The keys that nobody asks for are mistakes."""

    def __init__(self, text):
        self.text, self.table, self.notes, self.asked = text, {}, [], set()
        try:
            self.table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"at line (\d+)", str(error))  # else it is at the end
            self.note(int(line[1]) if line else text.count("\n") + 1, "", f"not TOML: {error}")

    def duration(self, key, default, least=1):
        """A span in ms, written as "30s", "2h" or "1h30m"."""
        self.asked.add(key)
        value = self.table.get(key, default)
        if isinstance(value, str):
            value = milliseconds(value)
        elif key in self.table:
            value = None
        if value is None:
            self.problem(key, 'is not a valid duration; write a number and a unit in quotes, as "30s", "2h" or "1h30m"')
        elif value < least:
            self.problem(key, f"is {value}ms; use {least}ms or more")
        elif value > LONGEST:
            self.problem(key, "is more than a hundred years; write less")
        return value

    def problem(self, key, text):
        """Notes that something is wrong with a key."""
        self.note(self.line(key), key, text)

    def finish(self):
        """All that is wrong, once the keys have been asked for, in the order of the lines."""
        if not any(note.key == "" for note in self.notes):
            for key in self.table.keys() - self.asked:
                self.problem(key, "unknown key; allowed here: " + ", ".join(sorted(self.asked)))
        return sorted(self.notes, key=lambda note: (note.line, note.key))

    def note(self, line, key, text):
        error = plugin_pb2.Note.SEVERITY_ERROR
        self.notes.append(plugin_pb2.Note(severity=error, line=line, key=key, text=text))

    def line(self, key):
        """Where the key or its table stands, because the parser does not tell; 0: not found."""
        begins = re.compile(rf"""[\s\["']*{re.escape(key)}(?![\w-])""")
        return next((n for n, line in enumerate(self.text.splitlines(), 1) if begins.match(line)), 0)


def milliseconds(text):
    """Reads a duration; None: it is none."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text)
    if text == "0" or not parts or "".join(n + unit for n, unit in parts) != text:
        return 0 if text == "0" else None
    total = sum(decimal.Decimal(n) * UNITS[unit] for n, unit in parts)
    return int(total.to_integral_value(decimal.ROUND_CEILING))
