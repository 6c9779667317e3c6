package slurmtext

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxHosts is how many names a list may have.
const maxHosts = 65536

// The errors of lists of hosts.
var (
	ErrHostList  = errors.New("invalid host list: a bracket or a range is wrong")
	ErrManyHosts = fmt.Errorf("the host list has more than %d names", maxHosts)
)

// ExpandHosts reads a list of host names as Slurm writes it: "a[1-3,7],b02" is a1, a2, a3, a7 and b02.
func ExpandHosts(list string) (hosts []string, err error) {
	for _, part := range SplitList(list) {
		names, err := expandOne(part)
		if err != nil {
			return nil, err
		}
		if hosts = append(hosts, names...); len(hosts) > maxHosts {
			return nil, ErrManyHosts
		}
	}
	return hosts, nil
}

// SplitList splits at commas that are not within brackets.
func SplitList(list string) (parts []string) {
	depth, from := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				parts, from = append(parts, list[from:i]), i+1
			}
		}
	}
	parts = append(parts, list[from:])
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// expandOne expands the brackets of a name, the first first.
func expandOne(part string) (names []string, err error) {
	open := strings.IndexByte(part, '[')
	if open < 0 && !strings.Contains(part, "]") {
		return []string{part}, nil
	}
	if open < 0 || strings.Contains(part[:open], "]") {
		return nil, ErrHostList
	}
	inside, after, closed := strings.Cut(part[open+1:], "]")
	if !closed || inside == "" {
		return nil, ErrHostList
	}
	tails, err := expandOne(after)
	if after == "" {
		tails, err = []string{""}, nil
	}
	if err != nil {
		return nil, err
	}
	for numbers := range strings.SplitSeq(inside, ",") {
		if names, err = appendNumbered(names, part[:open], numbers, tails); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// appendNumbered appends a head with each number of a range and each tail.
func appendNumbered(names []string, head, numbers string, tails []string) ([]string, error) {
	first, last, ranged := strings.Cut(numbers, "-")
	if !ranged {
		last = first
	}
	from, errFrom := strconv.ParseUint(first, 10, 32)
	to, errTo := strconv.ParseUint(last, 10, 32)
	switch {
	case errFrom != nil || errTo != nil || to < from:
		return nil, ErrHostList
	case (to-from+1)*uint64(len(tails))+uint64(len(names)) > maxHosts:
		return nil, ErrManyHosts
	}
	for n := from; n <= to; n++ {
		for _, tail := range tails {
			names = append(names, fmt.Sprintf("%s%0*d%s", head, len(first), n, tail))
		}
	}
	return names, nil
}

// host is a name and the number that it ends with.
type host struct {
	name   string // without the number
	digits string // empty: none
}

func hostOf(name string) host {
	const longest = 9 // digits of a number that ranges can have
	stem := strings.TrimRight(name, "0123456789")
	if len(name)-len(stem) > longest {
		return host{name: name}
	}
	return host{stem, name[len(stem):]}
}

// follows says whether a name is the next one after another.
func (h host) follows(before host) bool {
	x, errX := strconv.Atoi(before.digits)
	y, errY := strconv.Atoi(h.digits)
	return errX == nil && errY == nil && h.name == before.name && len(h.digits) == len(fmt.Sprintf("%0*d", len(before.digits), y)) && y == x+1
}

// JoinHosts writes host names as Slurm does: neighbours of one stem share brackets.
func JoinHosts(names []string) string {
	var parts []string
	for i := 0; i < len(names); {
		first := hostOf(names[i])
		var ranges []string
		count := 0
		end := i
		for end < len(names) {
			from := hostOf(names[end])
			if from.digits == "" || from.name != first.name || len(from.digits) != len(first.digits) && (from.digits[0] == '0' || first.digits[0] == '0') {
				break
			}
			last := end
			for last+1 < len(names) && hostOf(names[last+1]).follows(hostOf(names[last])) {
				last++
			}
			text := from.digits
			if last > end {
				text += "-" + hostOf(names[last]).digits
			}
			ranges, count, end = append(ranges, text), count+last-end+1, last+1
		}
		switch {
		case count > 1:
			parts = append(parts, first.name+"["+strings.Join(ranges, ",")+"]")
			i = end
		default:
			parts = append(parts, names[i])
			i++
		}
	}
	return strings.Join(parts, ",")
}

// SortHosts sorts host names by their stems and numbers, and removes the second of two.
func SortHosts(names []string) []string {
	sorted := slices.Clone(names)
	slices.SortFunc(sorted, func(x, y string) int {
		a, b := hostOf(x), hostOf(y)
		if a.name != b.name {
			return strings.Compare(a.name, b.name)
		}
		if len(a.digits) != len(b.digits) {
			return len(a.digits) - len(b.digits)
		}
		return strings.Compare(a.digits, b.digits)
	})
	return slices.Compact(sorted)
}
