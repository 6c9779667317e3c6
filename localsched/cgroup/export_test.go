package cgroup

import (
	"fmt"
	"maps"
	"slices"
)

// For tests of what the package keeps to itself.
var (
	OpenAt    = open
	CountOf   = countOf
	ParsePIDs = parsePIDs
)

// WithDevicesAt is [Found.WithDevices] on another machine.
func (f Found) WithDevicesAt(proc, where, name string) (with Found, lacks string) {
	return f.withDevices(proc, where, name)
}

// ParseOwn reads a file cgroup, as "controller=group" each.
func ParseOwn(text string) (all []string, err error) {
	own, err := parseOwn(text)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		all = append(all, name+"="+own[name])
	}
	return all, err
}

// DirOf is where a file mountinfo says that a controller's group is.
func DirOf(mountinfo, controller, group string) string {
	mounts, err := parseMounts(mountinfo)
	if err != nil {
		return fmt.Sprint("error: ", err)
	}
	m, ok := hierarchy(mounts, controller)
	if !ok {
		return "none"
	}
	return m.dir(group)
}
