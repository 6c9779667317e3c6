package node

import (
	"errors"

	"github.com/switchyard-hpc/switchyard/peer"
)

// PartnerCounter counts, in the rows of a store that no peer has open, the jobs that concern
// each partner. The zero PartnerCounter has seen no row.
type PartnerCounter struct {
	count peer.PartnerCount
	errs  []error
}

// Add takes in a row; rows may come in any order.
func (c *PartnerCounter) Add(table string, row Row) {
	if table != string(peer.JobTable) && table != string(peer.GuestTable) {
		return
	}
	content, err := peer.DecodeRow(peer.Table(table), row.Value)
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	if c.count == nil {
		c.count = peer.PartnerCount{}
	}
	c.count.Add(content)
}

// Count is the jobs that concern each partner. It is an error that a row could not be read.
func (c *PartnerCounter) Count() (peer.PartnerCount, error) {
	return c.count, errors.Join(c.errs...)
}
