package peerv1

import (
	"bytes"
	"fmt"
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Limits of fields, beside those of package wire.
const (
	MaxJobs   = 16384          // jobs of a quote request, quotes of a reply
	maxReckon = 16             // bytes of a reckoning's name
	MaxReason = wire.MaxReason // bytes of a reason

	maxSoftware = 128 // bytes
)

func positive(field string, n int) error {
	if n < 1 || n > math.MaxInt32 {
		return fmt.Errorf("%s: %d is outside 1 to %d", field, n, math.MaxInt32)
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
		return fmt.Errorf("%s: is 0; epochs start at 1", field)
	}
	return nil
}

func checkSpec(s protocol.Spec) error {
	return wire.First(
		checkJob("job", s.Job),
		positive("cpus", s.CPUs),
		wire.Count("nodes", s.Nodes),
		wire.Amount("memory_mb", s.MemoryMB),
		wire.Amount("wall_time_ms", s.WallTime),
		wire.Present("wall_time_ms", s.WallTime != 0),
		wire.Text("name", s.Name, wire.MaxJobName),
		wire.Text("user", s.User, wire.MaxUser),
		wire.AtMost("sites", len(s.Sites), wire.MaxJobSites),
		wire.Amount("submitted_ms", s.Submitted),
		wire.Count("mhz", s.MHz),
		wire.Count("mflops", s.Mflops),
		wire.Power("power_ppm", s.Power),
		wire.Amount("data_bytes", s.Data),
		wire.Amount("data_out", s.DataOut),
		wire.Text("priority", s.Priority, wire.MaxPriority),
		wire.Foreseen(&s),
		wire.Each("sites", s.Sites, protocol.SiteName.Validate),
		wire.Licences("licences", s.Licences),
		wire.In("layout", s.CheckLayout()),
	)
}

func checkPayload(p *protocol.Payload) error {
	if p == nil {
		return wire.Present("payload", false)
	}
	return wire.In("payload", wire.First(
		wire.AtMost("script", len(p.Script), wire.MaxScript),
		wire.AtMost("args", len(p.Args), wire.MaxArgs),
		wire.AtMost("env", len(p.Env), wire.MaxArgs),
		wire.UnixString("work_dir", p.WorkDir, wire.MaxPath),
		wire.UnixString("stdout", p.Stdout, wire.MaxPath),
		wire.UnixString("stderr", p.Stderr, wire.MaxPath),
		wire.Each("args", p.Args, func(arg string) error { return wire.UnixString("arg", arg, MaxMessage) }),
		wire.Each("env", p.Env, func(pair string) error { return wire.Env(pair, MaxMessage) }),
	))
}

func checkLoad(l protocol.Load) error {
	return wire.In("load", wire.First(
		wire.Count("cpus", l.CPUs),
		wire.Count("busy", l.Busy),
		wire.Count("queued_jobs", l.QueuedJobs),
		wire.Amount("queued_work_ms", l.QueuedWork),
		wire.Count("benefit_ppm", l.Benefit),
		wire.Count("withheld", l.Withheld),
		wire.Amount("draw_mw", l.Draw),
		wire.Amount("budget_mw", l.Budget),
	))
}

func checkDigest(d protocol.Digest) error {
	return wire.First(wire.In("site", d.Site.Validate()), checkLoad(d.Load))
}

func checkCard(c protocol.Card) error {
	return wire.First(
		wire.In("site", c.Site.Validate()),
		wire.In("number", c.Number.Validate()),
		wire.In("public_key", checkPublicKey(c.PublicKey)),
		wire.Amount("first_start_ms", c.FirstStart),
		wire.Text("software", c.Software, maxSoftware),
		positive("protocol", c.Protocol),
		wire.Count("capacity.cpus", c.Capacity.CPUs),
		wire.Count("capacity.nodes", c.Capacity.Nodes),
		wire.Count("capacity.node_cpus", c.Capacity.NodeCPUs),
		wire.Amount("capacity.memory_mb", c.Capacity.MemoryMB),
		wire.Amount("capacity.max_wall_time_ms", c.Capacity.MaxWallTime),
		wire.Count("capacity.mhz", c.Capacity.MHz),
		wire.Count("capacity.mflops", c.Capacity.Mflops),
		wire.Machine("capacity.machine", c.Capacity.Machine),
		wire.Count("max_jobs", c.MaxJobs),
		wire.Count("max_cpus", c.MaxCPUs),
		checkSeq(c.SeenSeq),
		wire.Amount("begun_ms", c.Begun),
		checkLife("seen", c.Seen),
	)
}

// checkLife passes what says nothing.
func checkLife(field string, l protocol.Life) error {
	switch {
	case l == (protocol.Life{}):
		return nil
	case l.Incarnation == 0 || l.Boot == 0:
		return fmt.Errorf("%s: a life has an incarnation and a boot from 1 on", field)
	}
	return wire.In(field, wire.Amount("begun_ms", l.Begun))
}

func checkSeq(seq uint64) error {
	if seq >= protocol.SeqsPerSite {
		return fmt.Errorf("seen_seq: %d is not below %d", seq, uint64(protocol.SeqsPerSite))
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
