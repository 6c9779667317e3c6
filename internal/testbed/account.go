package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
)

// JobAccount is the account that runs the jobs: the caller's, or an unprivileged
// one when the caller is root, as no job may run as root.
func JobAccount(ctx context.Context) (passwd.Entry, error) {
	if os.Getuid() != 0 {
		me, err := passwd.ByUID(ctx, os.Getuid())
		if err != nil {
			return passwd.Entry{}, fmt.Errorf("find your own account, which runs the jobs: %w", err)
		}
		return me, nil
	}
	for _, name := range []string{"nobody", "daemon"} {
		if account, err := passwd.ByName(ctx, name); err == nil && account.UID != 0 {
			return account, nil
		}
	}
	return passwd.Entry{}, errors.New("jobs do not run as root, and neither account nobody nor daemon exists; run as an ordinary user")
}

// MakeShared makes a directory in which the jobs' account may write.
func MakeShared(ctx context.Context, path string) error {
	account, err := JobAccount(ctx)
	if err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil { //nolint:gosec // jobs of another account pass through
		return fmt.Errorf("make a directory for the jobs: %w", err)
	}
	if err := os.Chown(path, int(account.UID), int(account.GID)); err != nil {
		return fmt.Errorf("give %s to the jobs' account %s: %w", path, account.Name, err)
	}
	return nil
}
