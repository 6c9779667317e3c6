package process

import (
	"context"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// CallingShell is what jobs take over from the shell that has called this program on a host, with all limits.
func CallingShell(ctx context.Context, host string) *protocol.Shell {
	shell := &protocol.Shell{Host: host, Umask: unix.Umask(protocol.DefaultUmask)} // the only way to read it sets it
	unix.Umask(shell.Umask)
	for _, name := range protocol.ResourceLimits() {
		var limit unix.Rlimit
		err := unix.Getrlimit(resources[name], &limit)
		if name == "NOFILE" {
			limit.Cur, err = openFiles(ctx)
		}
		if err == nil {
			shell.Limits = append(shell.Limits, protocol.ResourceLimit{Name: name, Soft: limit.Cur})
		}
	}
	return shell
}

// openFiles is the soft limit of open files. Go raises its own when a program begins, and gives processes that it
// starts the one from before.
func openFiles(ctx context.Context) (uint64, error) {
	said, err := exec.CommandContext(ctx, "/bin/sh", "-c", "ulimit -S -n").Output()
	text := strings.TrimSpace(string(said))
	if err != nil || text == "unlimited" {
		return protocol.NoSoftLimit, err
	}
	return strconv.ParseUint(text, 10, 64)
}

// setLimits gives the job soft limits of the shell that has submitted it, as far as the hard ones allow.
func setLimits(limits []protocol.ResourceLimit) {
	for _, one := range limits {
		resource, known := resources[one.Name]
		var now unix.Rlimit
		if !known || unix.Getrlimit(resource, &now) != nil {
			continue
		}
		now.Cur = min(one.Soft, now.Max)
		_ = unix.Setrlimit(resource, &now) // to lower a soft limit is always allowed, to raise it up to the hard one too
	}
}

// resources are the limits by their names.
var resources = map[string]int{ //nolint:gochecknoglobals // it does not change
	"AS": unix.RLIMIT_AS, "CORE": unix.RLIMIT_CORE, "CPU": unix.RLIMIT_CPU, "DATA": unix.RLIMIT_DATA, "FSIZE": unix.RLIMIT_FSIZE,
	"MEMLOCK": unix.RLIMIT_MEMLOCK, "NOFILE": unix.RLIMIT_NOFILE, "NPROC": unix.RLIMIT_NPROC, "RSS": unix.RLIMIT_RSS, "STACK": unix.RLIMIT_STACK,
}
