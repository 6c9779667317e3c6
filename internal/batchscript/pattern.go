package batchscript

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// pattern replaces what is known before the submission in a file name pattern
// of sbatch(1). The peer replaces the rest: %j and %A (the job's id, and that of its array), %a of an
// array (the index) and %% (one per cent sign), so a per cent sign in a replacement is written as %%.
// A width stays only where it matters: job ids, but not indexes, are longer than any width allowed.
func pattern(text string, name string, from Origin, array bool) (string, error) {
	return protocol.ReplacePatterns(text, func(p protocol.NamePattern) (string, error) {
		switch p.Letter {
		case 'j', 'A', '%':
			return "%" + string(p.Letter), nil
		case 'J':
			return "%j", nil
		case 'x':
			return literal(strings.ReplaceAll(name, "/", "_")), nil
		case 'u':
			return literal(from.User), nil
		case 'N':
			return literal(from.Host), nil
		case 'a':
			if array {
				return p.Text, nil
			}
			return "4294967294", nil // what sbatch writes for a job that is no array
		case 'n', 't':
			return "0", nil
		case 's':
			return "batch", nil
		}
		return "", p.Unknown("%j, %A, %a, %x, %u, %N or %%")
	})
}

func literal(s string) string { return strings.ReplaceAll(s, "%", "%%") }
