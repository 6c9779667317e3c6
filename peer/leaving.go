package peer

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// leaving is what the job runs as a partner gets it: without the variables that stay at
// this site.
func (p *Peer) leaving(j *tables.Job) *protocol.Payload {
	out := j.Payload()
	var env []string
	for _, pair := range out.Env {
		if name, _, _ := strings.Cut(pair, "="); j.Export.Allows(name, p.cfg.ExportRemote) {
			env = append(env, pair)
		}
	}
	out.Env = env
	return out
}
