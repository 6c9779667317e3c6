package cgroup

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// unified is the name under which parseOwn knows the group in the unified hierarchy.
const unified = ""

// parseOwn reads /proc/<pid>/cgroup: the group of a process in each hierarchy, by the names
// of the controllers.
func parseOwn(text string) (groups map[string]string, err error) {
	groups = map[string]string{}
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(f) != 3 || !strings.HasPrefix(f[2], "/") {
			return nil, fmt.Errorf("line %q is not hierarchy:controllers:path", line)
		}
		for name := range strings.SplitSeq(f[1], ",") {
			groups[name] = f[2]
		}
	}
	return groups, nil
}

// mount is where a hierarchy is mounted.
type mount struct {
	point       string
	root        string // the group that is seen at the point
	unified     bool
	controllers []string // of version 1
}

// parseMounts finds the hierarchies in /proc/<pid>/mountinfo.
func parseMounts(text string) (mounts []mount, err error) {
	for line := range strings.Lines(text) {
		front, back, ok := strings.Cut(strings.TrimRight(line, "\n"), " - ")
		f, b := strings.Fields(front), strings.Fields(back)
		if !ok || len(f) < 6 || len(b) < 3 {
			return nil, fmt.Errorf("line %q is not of a mountinfo", line)
		}
		if b[0] != "cgroup" && b[0] != "cgroup2" {
			continue
		}
		mounts = append(mounts, mount{
			point: unescape(f[4]), root: unescape(f[3]),
			unified: b[0] == "cgroup2", controllers: strings.Split(b[2], ","),
		})
	}
	return mounts, nil
}

// unescape reads the octal numbers that mountinfo has for blanks and the like.
func unescape(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// dir is where a group of the hierarchy is in the file system; empty when the mount does
// not show it.
func (m mount) dir(group string) string {
	if m.root == "/" {
		return path.Join(m.point, group)
	}
	below, ok := strings.CutPrefix(group, m.root)
	if !ok || below != "" && below[0] != '/' {
		return ""
	}
	return path.Join(m.point, below)
}

// hierarchy finds the mount of a controller of version 1, or of the unified hierarchy.
func hierarchy(mounts []mount, controller string) (mount, bool) {
	i := slices.IndexFunc(mounts, func(m mount) bool {
		if controller == unified {
			return m.unified
		}
		return !m.unified && slices.Contains(m.controllers, controller)
	})
	if i < 0 {
		return mount{}, false
	}
	return mounts[i], true
}

// countOf reads a counter in a file of lines "name number", such as memory.events; 0 when
// there is none.
func countOf(text, name string) int64 {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == name {
			if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}

// parsePIDs reads a file cgroup.procs. Processes that this one cannot see are 0 there, and
// left out.
func parsePIDs(text string) (pids []int) {
	for word := range strings.FieldsSeq(text) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}
