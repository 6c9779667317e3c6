package tasks

import (
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// fileName replaces the patterns of srun(1) in the name of an output or input file.
func (s *Step) fileName(name string, t task) (string, error) {
	return protocol.ReplacePatterns(name, func(p protocol.NamePattern) (string, error) {
		switch p.Letter {
		case '%':
			return "%", nil
		case 'j', 'A':
			return p.Padded(s.Allocation.Job), nil
		case 'J':
			return s.id(), nil
		case 's':
			return p.Padded(strconv.Itoa(s.Number)), nil
		case 't':
			return p.Padded(strconv.Itoa(t.rank)), nil
		case 'n':
			return p.Padded(strconv.Itoa(t.node)), nil
		case 'N':
			return s.Allocation.Host, nil
		case 'u':
			return s.User, nil
		case 'x':
			return strings.ReplaceAll(s.JobName, "/", "_"), nil
		case 'a':
			return s.Index, nil
		}
		return "", p.Unknown("%j, %J, %s, %t, %n, %N, %u, %x, %A, %a or %%")
	})
}
