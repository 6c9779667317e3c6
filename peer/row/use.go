package row

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Use is what the jobs of one user in one account have used at one site, decayed.
type Use struct {
	Site    protocol.SiteName `json:"site"`   // where they ran
	Origin  protocol.SiteName `json:"origin"` // where they were submitted
	Account string            `json:"account,omitempty"`
	User    string            `json:"user"` // of the origin

	fairshare.Use
}

// Key is the key of the row.
func (u Use) Key() string {
	return strings.Join([]string{string(u.Site), string(u.Origin), u.Account, u.User}, "\x00")
}

func (Use) table() Table { return UseTable }
