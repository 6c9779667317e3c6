package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/peer/invitation"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// usedInvitation is in the file of an invitation that a site has become a partner by. It is kept beside the configuration until the
// invitation ends, since the table of the partner may be removed before that.
type usedInvitation struct {
	Site protocol.SiteName `json:"site"`
	End  protocol.Instant  `json:"end_ms"`
}

// usedPrefix is how the name of that file begins.
const usedPrefix = "used-invitation-"

// usedFile is its path.
func usedFile(dir, id string) string { return filepath.Join(dir, usedPrefix+id) }

// useOnce notes that the invitation is used, in a file that is new.
func (f *newFiles) useOnce(dir string, v *invitation.Invitation) error {
	text, err := json.Marshal(usedInvitation{v.For, v.End})
	if err != nil {
		return err
	}
	return f.write(usedFile(dir, v.ID), string(text)+"\n")
}

// used says that the invitation has been used; nothing: it has not.
func used(dir string, v *invitation.Invitation) (wrong problems.List) {
	if path := usedFile(dir, v.ID); len(free(path)) > 0 {
		wrong.Add(problems.Place{File: path}, "says that this invitation has been used already; make a new one with: switchyard invite %s", v.For)
	}
	return wrong
}

// forgetUsed removes the files of invitations that have ended. One that cannot be read is left.
func forgetUsed(dir string, now protocol.Instant) {
	entries, _ := os.ReadDir(dir) // what cannot be read is left, too
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), usedPrefix) {
			continue
		}
		var one usedInvitation
		path := filepath.Join(dir, entry.Name())
		text, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(text, &one) == nil && one.End > 0 && one.End <= now {
			_ = os.Remove(path)
		}
	}
}
