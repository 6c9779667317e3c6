package slurm

import (
	"errors"
	"fmt"
	"strings"
)

// maxHosts bounds how many nodes a list of them may name.
const maxHosts = 1 << 16

// expandHosts lists the nodes that one of Slurm's lists names, such as
// "a[1-3,07],b2" or "rack[1-2]node[01-16]", in its order.
func expandHosts(list string) (hosts []string, err error) {
	for rest := list; rest != ""; {
		var item string
		if item, rest, err = cutHost(rest); err != nil {
			return nil, fmt.Errorf("list of nodes %.100q: %w", list, err)
		}
		if hosts, err = appendHosts(hosts, "", item); err != nil {
			return nil, fmt.Errorf("list of nodes %.100q: %w", list, err)
		}
	}
	return hosts, nil
}

// cutHost cuts a list at the first comma that is not within brackets.
func cutHost(list string) (item, rest string, err error) {
	within := false
	for i, c := range []byte(list) {
		switch {
		case c == '[' && within, c == ']' && !within:
			return "", "", fmt.Errorf("a bracket too many before byte %d", i+1)
		case c == '[', c == ']':
			within = !within
		case c == ',' && !within:
			return list[:i], list[i+1:], nil
		}
	}
	if within {
		return "", "", errors.New("a bracket is not closed")
	}
	return list, "", nil
}

// appendHosts adds the nodes that one item names, behind a prefix.
func appendHosts(hosts []string, prefix, item string) ([]string, error) {
	head, tail, bracket := strings.Cut(item, "[")
	prefix += head
	if !bracket {
		if prefix == "" || len(hosts) >= maxHosts {
			return nil, fmt.Errorf("it names no node, or more than %d", maxHosts)
		}
		return append(hosts, prefix), nil
	}
	ranges, tail, _ := strings.Cut(tail, "]")
	for part := range strings.SplitSeq(ranges, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := parseCount(first, 1<<30)
		if err != nil {
			return nil, err
		}
		to, err := parseCount(last, 1<<30)
		if err != nil {
			return nil, err
		}
		if to < from || to-from >= maxHosts {
			return nil, fmt.Errorf("%q is no range of at most %d numbers", part, maxHosts)
		}
		for n := from; n <= to; n++ {
			if hosts, err = appendHosts(hosts, prefix+fmt.Sprintf("%0*d", len(first), n), tail); err != nil {
				return nil, err
			}
		}
	}
	return hosts, nil
}
