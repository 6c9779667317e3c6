package peerv1

import (
	"bytes"
	"fmt"
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Limits of fields, beside those of package wire.
const (
	MaxJobs          = 16384              // jobs of a quote request, quotes of a reply
	maxEnergyPricing = 16                 // bytes of the name of an energy pricing
	MaxReason        = protocol.MaxReason // bytes of a reason

	maxSoftware = 128 // bytes
)

func positive(field string, n int) error {
	if n < 1 || n > math.MaxInt32 {
		return wire.Wrong(field, "%d is outside 1 to %d", n, math.MaxInt32)
	}
	return nil
}

func checkJob(field string, id protocol.JobID) error {
	return wire.In(field, id.Origin().Validate())
}

func checkTag(t protocol.Tag) error {
	if err := checkJob("tag.job", t.Job); err != nil {
		return err
	}
	return checkEpoch("tag.epoch", t.Epoch)
}

func checkEpoch(field string, e protocol.Epoch) error {
	if e == 0 {
		return wire.Wrong(field, "is 0; epochs start at 1")
	}
	return nil
}

// checkSpec checks a job that travels: it is one of a site, and asks for something.
func checkSpec(s protocol.Spec) error {
	return wire.First(
		checkJob("request.job", s.Job),
		positive("request.cpus", s.CPUs),
		wire.Present("request.wall_time_ms", s.WallTime != 0),
		commonv1.CheckSpec(s),
	)
}

func checkCard(c protocol.Card) error {
	return wire.First(
		wire.In("site", c.Site.Validate()),
		wire.In("number", c.Number.Validate()),
		wire.In("public_key", checkPublicKey(c.PublicKey)),
		wire.Amount("first_start_ms", c.FirstStart),
		wire.Text("software", c.Software, maxSoftware),
		positive("protocol", c.Protocol),
		commonv1.CheckCapacity(c.Capacity),
		wire.Count("max_jobs", c.MaxJobs),
		wire.Count("max_cpus", c.MaxCPUs),
		checkSeq(c.SeenSeq),
		wire.Amount("begun_ms", c.Begun),
		checkLife("seen", c.Seen),
		checkAssociations(c.Associations),
		protocol.CheckSharedDirs(c.Shared),
	)
}

// checkLife passes what says nothing.
func checkLife(field string, l protocol.Life) error {
	switch {
	case l == (protocol.Life{}):
		return nil
	case l.Incarnation == 0 || l.Boot == 0:
		return wire.Wrong(field, "a life has an incarnation and a boot from 1 on")
	}
	return wire.In(field, wire.Amount("begun_ms", l.Begun))
}

func checkSeq(seq uint64) error {
	if seq >= protocol.SeqsPerSite {
		return wire.Wrong("seen_seq", "%d is not below %d", seq, uint64(protocol.SeqsPerSite))
	}
	return nil
}

// checkPublicKey checks the form of a public user nkey; its checksum is the
// business of those who use it.
func checkPublicKey(key string) error {
	notBase32 := func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '2' || r > '7') }
	if len(key) != 56 || key[0] != 'U' || bytes.IndexFunc([]byte(key), notBase32) >= 0 {
		return fmt.Errorf("%.60q is not a public user nkey", key)
	}
	return nil
}
