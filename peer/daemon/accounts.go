package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/peer/accounts"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// activeAccounts are the accounts of the active configuration.
type activeAccounts struct {
	own string // see [ownAccount]
	now atomic.Pointer[accounts.Accounts]
}

// Local implements [rules.Accounts].
func (a *activeAccounts) Local(user string) (string, error) { return a.now.Load().Local(user) }

// Guest implements [rules.Accounts].
func (a *activeAccounts) Guest(site protocol.SiteName, user string) (string, error) {
	return a.now.Load().Guest(site, user)
}

// set makes the accounts of a configuration the active ones.
func (a *activeAccounts) set(cfg *config.Config) {
	a.now.Store(accounts.New(accounts.Tables{
		SameNames: cfg.Accounts.Users == config.Same,
		Local:     cfg.Accounts.Local,
		Guests:    cfg.Guests(),
		Own:       a.own,
	}))
}

// ownAccount is the one account as which this process can start jobs; empty: as any. The number stands for
// the name of one without.
func ownAccount(ctx context.Context) (string, error) {
	if os.Geteuid() == 0 {
		return "", nil
	}
	me, err := passwd.ByUID(ctx, os.Geteuid())
	switch {
	case errors.Is(err, passwd.ErrUnknown):
		return strconv.Itoa(os.Geteuid()), nil
	case err != nil:
		return "", fmt.Errorf("find the peer's own account: %w", err)
	}
	return me.Name, nil
}

// knownHere says why this machine does not know an account.
func knownHere(ctx context.Context) func(account string) error {
	return func(account string) error {
		_, err := passwd.ByName(ctx, account)
		return err
	}
}

// accountProblems says which accounts of a configuration can run no job: those that this machine
// does not know, and all but the peer's own where that is known and not root.
func accountProblems(cfg *config.Config, own string, known func(account string) error) (problems []string) {
	look := func(where, who, account string) {
		err := known(account)
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s: %s is mapped to account %q: %v; make the account, or name another one",
				where, who, account, err))
		case own != "" && account != own:
			problems = append(problems, fmt.Sprintf("%s: %s is mapped to account %q, and a peer of %s can start jobs only as %s; "+
				"start the peer as root, or map to %q", where, who, account, own, own, own))
		}
	}
	for _, user := range slices.Sorted(maps.Keys(cfg.Accounts.Local)) {
		look("[accounts] local", fmt.Sprintf("user %q", user), cfg.Accounts.Local[user])
	}
	for _, p := range cfg.Partners {
		for _, user := range slices.Sorted(maps.Keys(p.Users)) {
			who := fmt.Sprintf("user %q", user)
			if user == accounts.Anyone {
				who = "every other user"
			}
			look(fmt.Sprintf("[[partner]] %s: users", p.Name), who, p.Users[user])
		}
	}
	return problems
}

// logAccountProblems has the log say what accounts can run no job.
func (d *Daemon) logAccountProblems(ctx context.Context) {
	for _, problem := range accountProblems(d.cfg, d.accounts.own, knownHere(ctx)) {
		d.log.Warn("config_warning", "what", problem)
	}
}
