package tasks

import (
	"fmt"
	"strconv"
	"strings"
)

// fileName replaces the patterns of srun(1) in the name of an output or input file. A width pads numbers with zeros, up to 10 digits.
func (s *Step) fileName(pattern string, t task) (string, error) {
	var out strings.Builder
	for rest := pattern; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		if !found {
			break
		}
		letter := strings.TrimLeft(after, "0123456789")
		if letter == "" {
			return "", fmt.Errorf("the file name %q ends within a pattern; write %%%% for a per cent sign", pattern)
		}
		width, _ := strconv.Atoi(after[:len(after)-len(letter)])
		padded := func(text string) { out.WriteString(strings.Repeat("0", max(0, min(width, 10)-len(text))) + text) }
		switch letter[0] {
		case '%':
			out.WriteByte('%')
		case 'j', 'A':
			padded(s.Allocation.Job)
		case 'J':
			out.WriteString(s.id())
		case 's':
			padded(strconv.Itoa(s.Number))
		case 't':
			padded(strconv.Itoa(t.rank))
		case 'n':
			padded(strconv.Itoa(t.node))
		case 'N':
			out.WriteString(s.Allocation.Host)
		case 'u':
			out.WriteString(s.User)
		case 'x':
			out.WriteString(strings.ReplaceAll(s.JobName, "/", "_"))
		case 'a':
			out.WriteString(s.Index)
		default:
			return "", fmt.Errorf("the file name %q: %%%s is unknown; use %%j, %%J, %%s, %%t, %%n, %%N, %%u, %%x, %%A, %%a or %%%%",
				pattern, strings.ToValidUTF8(letter[:1], "?"))
		}
		rest = letter[1:]
	}
	return out.String(), nil
}
