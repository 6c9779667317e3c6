package batchscript

import (
	"fmt"
	"strings"
)

// pattern replaces what is known before the submission in a file name pattern
// of sbatch(1). The peer replaces the rest: %j and %A (the job's id, and that of its array), %a of an
// array (the index) and %% (one per cent sign), so a per cent sign in a replacement is written as %%.
func pattern(text string, name string, from Origin, array bool) (string, error) {
	var out strings.Builder
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		if !found {
			break
		}
		// A width pads numbers; job ids, but not indexes, are longer than any width allowed.
		letter := strings.TrimLeft(after, "0123456789")
		if letter == "" {
			return "", fmt.Errorf("the file name %q ends within a pattern; write %%%% for a per cent sign", text)
		}
		if array && letter[0] == 'a' {
			out.WriteString("%" + after[:len(after)-len(letter)+1])
			rest = letter[1:]
			continue
		}
		known, err := replacement(letter[0], name, from)
		if err != nil {
			return "", fmt.Errorf("the file name %q: %w", text, err)
		}
		out.WriteString(known)
		rest = letter[1:]
	}
	return out.String(), nil
}

func replacement(letter byte, name string, from Origin) (string, error) {
	switch letter {
	case 'j', 'A', '%':
		return "%" + string(letter), nil
	case 'J':
		return "%j", nil
	case 'x':
		return literal(strings.ReplaceAll(name, "/", "_")), nil
	case 'u':
		return literal(from.User), nil
	case 'N':
		return literal(from.Host), nil
	case 'a':
		return "4294967294", nil // what sbatch writes for a job that is no array
	case 'n', 't':
		return "0", nil
	case 's':
		return "batch", nil
	}
	return "", fmt.Errorf("%%%s is unknown; use %%j, %%A, %%a, %%x, %%u, %%N or %%%%",
		strings.ToValidUTF8(string(letter), "?"))
}

func literal(s string) string { return strings.ReplaceAll(s, "%", "%%") }
