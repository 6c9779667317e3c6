package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ShimArgument is the first argument with which a program that runs a daemon is the shim: it
// must call [process.ShimMain] with the further ones then, before anything else. It is not
// needed where the small binary of the same build lies beside the program.
const ShimArgument = "shim"

// ShimBinary is the small binary that is the shim and nothing else. It lies beside the program.
const ShimBinary = "switchyard-shim"

// shimLine is the command line of the shim: the small binary, or this one, which takes five
// times as long to start (BenchmarkStart). Accounts must be able to run it; this binary in a private
// directory is reached through the process itself.
func shimLine(ctx context.Context, build Build, log *slog.Logger) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the switchyard binary, which watches the jobs: %w", err)
	}
	small := filepath.Join(filepath.Dir(self), ShimBinary)
	switch err = usable(ctx, build, small); {
	case err == nil:
		return []string{small}, nil
	case !errors.Is(err, fs.ErrNotExist):
		log.Warn("shim_unusable", "path", small, "error", err, "instead", self)
	}
	if os.Geteuid() == 0 && !open(self) {
		self = "/proc/self/exe"
	}
	return []string{self, ShimArgument}, nil
}

// usable says why the small binary cannot watch this peer's jobs; nil: it can.
func usable(ctx context.Context, build Build, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if os.Geteuid() == 0 && !open(path) {
		return errors.New("other accounts cannot run it; give it and the directories above it mode 755")
	}
	const timeout = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return fmt.Errorf("it does not say which version it is: %w", err)
	}
	// Two builds that know no commit may differ.
	if got, want := strings.TrimSpace(string(out)), build.Version+" "+build.Commit; got != want || build.Commit == "unknown" {
		return fmt.Errorf("it is of build %.80q, and this peer of %q; install both from one `make build`", got, want)
	}
	return nil
}

// open says whether every account may run the file.
func open(path string) bool {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}
