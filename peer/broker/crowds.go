package broker

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Crowds are how many members of its groups an application has found sites to take at once. The zero
// value knows of none. They are in memory only: after a restart the sites are asked again.
type Crowds struct {
	limits map[crowdKey]crowd
}

type crowdKey struct {
	number int // of the group
	site   protocol.SiteName
}

// crowd is what a site took of a group when it refused one member more.
type crowd struct {
	max   int
	until protocol.Instant
}

// Max is how many members of a group a site takes at once, as far as it has shown; 0: nothing is known.
func (c *Crowds) Max(group int, site protocol.SiteName, now protocol.Instant) int {
	if one, ok := c.limits[crowdKey{group, site}]; ok && now < one.until {
		return one.max
	}
	return 0
}

// Refused takes that the site of a member has refused it. It is true if others of the group were to be
// there: they were too many, and until the instant fewer of them are asked for there. Else the refusal is
// about the member itself.
func (c *Crowds) Refused(rows Rows, j *row.Job, until func() protocol.Instant) bool {
	there := 0
	for _, one := range rows.Seeking() {
		if one.Site == j.Site {
			there++
		}
	}
	if there < 2 {
		return false
	}
	if c.limits == nil {
		c.limits = map[crowdKey]crowd{}
	}
	c.limits[crowdKey{j.Component.Together, j.Site}] = crowd{max: there - 1, until: until()}
	return true
}
