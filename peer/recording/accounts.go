package recording

import (
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Answer is what [rules.Accounts] said to one question.
type Answer struct {
	Site    protocol.SiteName // whose user; empty: this site's
	User    string
	Account string
	Denied  *string // the error's text
}

func (a Answer) asks(site protocol.SiteName, user string) bool {
	return a.Site == site && a.User == user
}

// listener is the accounts of a peer whose answers are recorded.
type listener struct {
	to    rules.Accounts
	heard func(Answer)
}

// Local implements [rules.Accounts].
func (l *listener) Local(user string) (string, error) {
	account, err := l.to.Local(user)
	l.hear("", user, account, err)
	return account, err
}

// Guest implements [rules.Accounts].
func (l *listener) Guest(site protocol.SiteName, user string) (string, error) {
	account, err := l.to.Guest(site, user)
	l.hear(site, user, account, err)
	return account, err
}

func (l *listener) hear(site protocol.SiteName, user, account string, err error) {
	a := Answer{Site: site, User: user, Account: account}
	if err != nil {
		text := err.Error()
		a.Denied = &text
	}
	l.heard(a)
}

// answers are the accounts, costs and curves of a replayed peer: they give again what was
// answered in the step.
type answers struct {
	of      []Answer
	charges []Charge
	rates   []Rated
}

// Local implements [rules.Accounts].
func (a *answers) Local(user string) (string, error) { return a.find("", user) }

// Guest implements [rules.Accounts].
func (a *answers) Guest(site protocol.SiteName, user string) (string, error) {
	return a.find(site, user)
}

func (a *answers) find(site protocol.SiteName, user string) (string, error) {
	i := slices.IndexFunc(a.of, func(one Answer) bool { return one.asks(site, user) })
	switch {
	case i < 0:
		return "", fmt.Errorf("the recorded peer did not ask in this step for the account of user %q of %q", user, site)
	case a.of[i].Denied != nil:
		return a.of[i].Account, errors.New(*a.of[i].Denied)
	}
	return a.of[i].Account, nil
}
