package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What a configuration may say instead of a path.
const (
	Own  = "own"  // groups are made below that of the peer
	None = "none" // no groups are made
)

// PeerGroup is the name of the group within its unit's that systemd gives to the peer
// (DelegateSubgroup), because in cgroup v2 only a group without processes can have limited
// ones below it.
const PeerGroup = "peer"

// Found is what [Open] has found.
type Found struct {
	Parent Group // the zero Group: jobs get none
	// Lacks says what a job's group cannot do, and why, for people; empty: nothing.
	Lacks string
}

// Open makes the group below which jobs get theirs, with the name, which must be of one
// peer alone. Where is [Own], [None], or a path in the hierarchies, as "/switchyard". What
// the machine does not allow is no error: [Found] says it.
func Open(where, name string) Found { return open("/proc", where, name) }

func open(proc, where, name string) Found {
	if where == None {
		return Found{Lacks: "no cgroups, as configured"}
	}
	own, mounts, err := look(proc)
	if err != nil {
		return Found{Lacks: fmt.Sprintf("no cgroups: %v", err)}
	}
	parent, lacks := openV2(mounts, own[unified], where, name)
	if parent.Unified == "" || lacks != "" {
		if old, oldLacks := openV1(mounts, own, where, name); old != (Group{}) && (parent == (Group{}) || oldLacks == "") {
			parent.Release()
			parent, lacks = old, oldLacks
		}
	}
	if parent == (Group{}) {
		return Found{Lacks: "no cgroups: " + lacks}
	}
	return Found{Parent: parent, Lacks: lacks}
}

func look(proc string) (own map[string]string, mounts []mount, err error) {
	text, err := os.ReadFile(filepath.Join(proc, "self", "cgroup"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errors.New("the kernel has none")
	}
	if err == nil {
		own, err = parseOwn(string(text))
	}
	if err != nil {
		return nil, nil, err
	}
	if text, err = os.ReadFile(filepath.Join(proc, "self", "mountinfo")); err == nil {
		mounts, err = parseMounts(string(text))
	}
	return own, mounts, err
}

// openV2 makes the parent in the unified hierarchy, if there is one. The peer is in the group
// own.
func openV2(mounts []mount, own, where, name string) (parent Group, lacks string) {
	m, ok := hierarchy(mounts, unified)
	if !ok {
		return Group{}, "no hierarchy is mounted"
	}
	base := m.dir(groupAt(where, own))
	if where == Own && filepath.Base(base) == PeerGroup {
		base = filepath.Dir(base)
	}
	if base == "" {
		return Group{}, fmt.Sprintf("%s does not show the group %s", m.point, groupAt(where, own))
	}
	made := Group{Unified: filepath.Join(base, name)}
	if err := os.MkdirAll(made.Unified, 0o755); err != nil { //nolint:gosec // as all groups are
		return Group{}, err.Error()
	}
	if err := mayMove(m.dir(own), made.Unified); err != nil {
		made.Release()
		return Group{}, err.Error()
	}
	for _, controller := range controllers() {
		for _, dir := range []string{base, made.Unified} {
			if err := enable(dir, controller); err != nil {
				return made, fmt.Sprintf("no limits of memory and processes: %v; let systemd give the peer a group of its own "+
					"(Delegate=yes and DelegateSubgroup=%s), or name another group in [localsched] cgroup", err, PeerGroup)
			}
		}
	}
	return made, ""
}

// groupAt is the group below which jobs are to get theirs, in a hierarchy in which the peer is
// in the group own.
func groupAt(where, own string) string {
	if where == Own {
		return own
	}
	return where
}

// mayMove says why this process may not move others from one group of version 2 to another:
// that takes the right to write to the nearest group that has both below it. An empty from is
// a group that the mount does not show; that is found out by the first job.
func mayMove(from, to string) error {
	if from == "" {
		return nil
	}
	above := from
	for above != to && !strings.HasPrefix(to, strings.TrimSuffix(above, "/")+"/") {
		above = filepath.Dir(above)
	}
	file, err := os.OpenFile(filepath.Join(above, "cgroup.procs"), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("the peer is in %s and may not move jobs from there to groups below %s: %w;"+
			" give its account that file, or put both groups below one that is its own", from, to, err)
	}
	return file.Close()
}

// controllers are those that limit the processes of a job.
func controllers() []string { return []string{"memory", "pids"} }

// enable has the groups below one limit something.
func enable(dir, controller string) error {
	has, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(string(has)), controller) {
		return fmt.Errorf("the group %s does not have the controller %s", dir, controller)
	}
	control := filepath.Join(dir, "cgroup.subtree_control")
	if on, err := os.ReadFile(control); err == nil && slices.Contains(strings.Fields(string(on)), controller) {
		return nil
	}
	return write(control, "+"+controller)
}

// openV1 makes the parent in the hierarchies of version 1 that there are.
func openV1(mounts []mount, own map[string]string, where, name string) (parent Group, lacks string) {
	var missing []string
	add := func(controller string, to *string) {
		m, ok := hierarchy(mounts, controller)
		dir := m.dir(groupAt(where, own[controller]))
		err := fmt.Errorf("the machine has no hierarchy %s", controller)
		if ok && dir != "" {
			dir = filepath.Join(dir, name)
			err = os.MkdirAll(dir, 0o755) //nolint:gosec // as all groups are
		}
		if err != nil {
			missing = append(missing, err.Error())
			return
		}
		*to = dir
	}
	add("freezer", &parent.Freezer)
	missing = nil // it is needed only where pids is not
	add("memory", &parent.Memory)
	add("pids", &parent.Pids)
	if len(missing) > 0 {
		lacks = "no limits of memory and processes: " + strings.Join(missing, "; ")
	}
	return parent, lacks
}
