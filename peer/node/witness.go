package node

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Witness remembers outside the store how far it has come.
type Witness interface {
	// Write notes the life. With begun, at its start or when it goes on after a restore, it
	// waits for the disk.
	Write(life protocol.Life, begun bool) error
}

// testify lets the witness know of durable rows, before anything else comes of them. One that
// fails is older than the store, which does no harm but for what it is there to find.
func (n *Node) testify(rows []row.Record) {
	before := n.life
	for _, record := range rows {
		switch row := record.Row.(type) { //nolint:gochecksumtype // the others say nothing of lives
		case row.Site:
			n.life.Incarnation, n.life.Boot, n.life.Begun = row.Incarnation, row.Boot, row.Begun
		case row.Generation:
			n.life.Generation = row.Generation
		}
	}
	if n.cfg.Witness == nil || n.life.Boot == 0 || n.life == before {
		return
	}
	err := n.cfg.Witness.Write(n.life, !n.life.Same(before))
	if (err != nil) != n.unwitnessed {
		n.unwitnessed = err != nil
		if err != nil {
			n.log.Warn("witness_write_failed", "error", err,
				"advice", "free space in the state directory; until then an older database that is put back may not be noticed")
		}
	}
}
