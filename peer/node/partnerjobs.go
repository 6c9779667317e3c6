package node

import (
	"errors"

	"github.com/switchyard-hpc/switchyard/peer/row"
)

// PartnerCounter counts, in the rows of a store that no peer has open, the jobs that concern
// each partner. The zero PartnerCounter has seen no row.
type PartnerCounter struct {
	count row.PartnerCount
	errs  []error
}

// Add takes in a row; rows may come in any order.
func (c *PartnerCounter) Add(table string, stored Row) {
	if table != string(row.JobTable) && table != string(row.GuestTable) {
		return
	}
	content, err := row.Decode(row.Table(table), stored.Value)
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	if c.count == nil {
		c.count = row.PartnerCount{}
	}
	c.count.Add(content)
}

// Count is the jobs that concern each partner. It is an error that a row could not be read.
func (c *PartnerCounter) Count() (row.PartnerCount, error) {
	return c.count, errors.Join(c.errs...)
}
