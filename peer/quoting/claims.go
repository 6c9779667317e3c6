package quoting

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Claims are the tentative allocations of a site: those of prepared or committed placements, until
// the local scheduler has the jobs. Quotes count them as queued ([localsched.Query.Ahead]), so that
// two partners are not quoted the same CPUs. They are in memory only: after a restart they follow
// from the rows of guests and runs.
type Claims map[protocol.Tag]Claim

// Claim is one tentative allocation.
type Claim struct {
	since       protocol.Instant
	request     protocol.Request
	association protocol.Association
}

// Add claims room for a placement, whose association is by the names of the site. One that has a claim gets the new one instead.
func (c Claims) Add(tag protocol.Tag, since protocol.Instant, request protocol.Request, association protocol.Association) {
	c[tag] = Claim{since: since, request: request, association: association}
}

// Drop ends the claim of a placement, if it has one.
func (c Claims) Drop(tag protocol.Tag) { delete(c, tag) }

// Ahead returns the claims in the form of the local scheduler, oldest first.
func (c Claims) Ahead() []localsched.Tentative {
	out := make([]localsched.Tentative, 0, len(c))
	for tag, one := range c {
		out = append(out, localsched.Tentative{Tag: tag, Request: one.request, Association: one.association})
	}
	slices.SortFunc(out, func(a, b localsched.Tentative) int {
		return cmp.Or(
			cmp.Compare(c[a.Tag].since, c[b.Tag].since), cmp.Compare(a.Tag.Job, b.Tag.Job), cmp.Compare(a.Tag.Epoch, b.Tag.Epoch),
		)
	})
	return out
}

// Free is how many of the idle CPUs are not claimed.
func (c Claims) Free(idle int) int {
	for _, one := range c {
		idle -= one.request.CPUs
	}
	return max(0, idle)
}
