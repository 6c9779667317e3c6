package testbed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// swapUsr runs a command with a directory in the place of /usr, for itself and all that it starts. Where /bin and
// /lib are links into /usr, that is another release of the system with the same accounts, paths and
// processes. The machine's own /usr/local stays.
const swapUsr = `mount --rbind /usr/local "$0/local" && mount --rbind "$0" /usr && exec "$@"`

// NewerSlurm returns a command that becomes the one behind it. To that and to all that it starts Debian 13's Slurm 24.11
// is what is installed; make newer-slurm has unpacked it. Where it has not, the error is [os.ErrNotExist]. Only root can run it.
func NewerSlurm() (under []string, err error) {
	usr, err := unpackedUsr("slurm-trixie", "newer-slurm")
	if err != nil {
		return nil, err
	}
	under = []string{"unshare", "--mount", "sh", "-c", swapUsr, usr}
	version, err := exec.Command(under[0], append(under[1:], "slurmctld", "-V")...).CombinedOutput() //nolint:gosec,noctx // it ends at once
	if err == nil && !strings.HasPrefix(string(version), "slurm-wlm 24.11.") {
		err = errors.New("it is another version")
	}
	if err != nil {
		return nil, fmt.Errorf("%s has not Slurm 24.11: %w: %s; remove %s and run make newer-slurm", usr, err, version, filepath.Dir(usr))
	}
	return under, nil
}

// WorkflowTools returns a command that becomes the one behind it. To that and to all that it starts Debian 12's Snakemake, Toil and
// GNU parallel and Debian 13's Cylc are installed; make workflow-tools has unpacked them. Where it has not, the error is [os.ErrNotExist]. Only root can run it.
func WorkflowTools() (under []string, err error) {
	usr, err := unpackedUsr("workflow-tools-2", "workflow-tools")
	if err != nil {
		return nil, err
	}
	return []string{"unshare", "--mount", "sh", "-c", `mount -t overlay overlay -o lowerdir="$0:/usr" /usr && exec "$@"`, usr}, nil
}

// unpackedUsr is the directory usr of the packages that a target of the Makefile has unpacked.
func unpackedUsr(name, target string) (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find what make %s unpacks: %w", target, err)
	}
	usr := filepath.Join(caches, "switchyard-tools", name, "usr")
	if _, err = os.Stat(usr); err != nil {
		return "", fmt.Errorf("nothing is unpacked; run make %s: %w", target, err)
	}
	return usr, nil
}
