package bus

import "github.com/switchyard-hpc/switchyard/protocol"

// LinksUp is how many links to the partner have a session.
func (b *Bus) LinksUp(site protocol.SiteName) (n int) {
	for _, l := range b.roster.Load().bySite[site].links {
		if l.up() {
			n++
		}
	}
	return n
}
