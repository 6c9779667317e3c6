package testbed

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// JobAccount is the account that runs the jobs: the caller's, or an unprivileged
// one when the caller is root, as no job may run as root.
func JobAccount() (*user.User, error) {
	if os.Getuid() != 0 {
		me, err := user.Current()
		if err != nil {
			return nil, fmt.Errorf("find your own account, which runs the jobs: %w", err)
		}
		return me, nil
	}
	for _, name := range []string{"nobody", "daemon"} {
		if account, err := user.Lookup(name); err == nil && account.Uid != "0" {
			return account, nil
		}
	}
	return nil, errors.New("jobs do not run as root, and neither account nobody nor daemon exists; run as an ordinary user")
}

// MakeShared makes a directory in which the jobs' account may write.
func MakeShared(path string) error {
	account, err := JobAccount()
	if err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil { //nolint:gosec // jobs of another account pass through
		return fmt.Errorf("make a directory for the jobs: %w", err)
	}
	uid, uidErr := strconv.Atoi(account.Uid)
	gid, gidErr := strconv.Atoi(account.Gid)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return fmt.Errorf("read the ids of account %s: %w", account.Username, err)
	}
	if err := os.Chown(path, uid, gid); err != nil {
		return fmt.Errorf("give %s to the jobs' account %s: %w", path, account.Username, err)
	}
	return nil
}
