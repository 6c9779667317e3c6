package results_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// noAccounts are those of a site without users.
type noAccounts struct{}

var errNoAccount = errors.New("no account for this user")

func (noAccounts) Local(string) (string, error)                    { return "", errNoAccount }
func (noAccounts) Guest(protocol.SiteName, string) (string, error) { return "", errNoAccount }

// Output of a user who has no account here any more is kept at once: repeating cannot help.
func TestDeliverWithoutAnAccount(t *testing.T) {
	t.Parallel()
	d := results.Deliverer{Accounts: noAccounts{}, Dir: &results.Dir{Path: t.TempDir()}}
	err := d.Deliver(t.Context(), "ann", "/home/ann/out", protocol.DefaultUmask, strings.NewReader("x"))
	permanent, ok := err.(interface{ Permanent() bool })
	if !ok || !permanent.Permanent() || !strings.Contains(err.Error(), errNoAccount.Error()) {
		t.Errorf("got %v", err)
	}
}
