package display

import (
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
)

// Tokens has a row for each token.
func Tokens(all []accesstokens.Token) *console.Table {
	t := console.NewTable("ID", "USER", "SCOPES", "CREATED", "BY", "EXPIRES", "NOTE")
	for _, token := range all {
		t.Add(token.ID, console.Plain(token.User), token.Scopes.String(), token.Created.Text(), console.Plain(token.Maker), token.Expires.Text(), console.OrDash(console.Plain(token.Note)))
	}
	return t
}
