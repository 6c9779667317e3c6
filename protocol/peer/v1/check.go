package peerv1

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits of fields.
const (
	MaxJobs   = 16384 // jobs of a quote request, quotes of a reply
	MaxReason = 4096  // bytes of a reason

	maxTerms  = 32
	maxSites  = 1024
	maxStrs   = 65536
	maxScript = 4 << 20
	maxPath   = 4096
)

// first returns the first error, so that checks read as lists.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// in names the field that holds the fault.
func in(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}

func present(field string, is bool) error {
	if !is {
		return fmt.Errorf("%s: is missing", field)
	}
	return nil
}

func count(field string, n int) error {
	if n < 0 || n > math.MaxInt32 {
		return fmt.Errorf("%s: %d is outside 0 to %d", field, n, math.MaxInt32)
	}
	return nil
}

func positive(field string, n int) error {
	if n < 1 || n > math.MaxInt32 {
		return fmt.Errorf("%s: %d is outside 1 to %d", field, n, math.MaxInt32)
	}
	return nil
}

// amount checks any integer that may be large but not negative: spans, instants,
// sizes, work.
func amount[T ~int64](field string, n T) error {
	if n < 0 {
		return fmt.Errorf("%s: %d is negative", field, int64(n))
	}
	return nil
}

func atMost(field string, n, most int) error {
	if n > most {
		return fmt.Errorf("%s: has %d entries or bytes, at most %d are allowed", field, n, most)
	}
	return nil
}

func text(field, s string, most int) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s: is not UTF-8", field)
	}
	return atMost(field, len(s), most)
}

// unixString checks what is handed to a program as a C string.
func unixString(field, s string, most int) error {
	if strings.IndexByte(s, 0) >= 0 {
		return fmt.Errorf("%s: contains a NUL byte", field)
	}
	return atMost(field, len(s), most)
}

func checkJob(field string, id protocol.JobID) error {
	return in(field, id.Origin().Validate())
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
	if err := first(
		checkJob("job", s.Job),
		positive("cpus", s.CPUs),
		count("nodes", s.Nodes),
		amount("memory_mb", s.MemoryMB),
		amount("wall_time_ms", s.WallTime),
		present("wall_time_ms", s.WallTime != 0),
		text("name", s.Name, 1024),
		text("user", s.User, 256),
		atMost("sites", len(s.Sites), maxSites),
		amount("submitted_ms", s.Submitted),
		count("mhz", s.MHz),
	); err != nil {
		return err
	}
	for i, site := range s.Sites {
		if err := site.Validate(); err != nil {
			return fmt.Errorf("sites[%d]: %w", i, err)
		}
	}
	return nil
}

func checkPayload(p *protocol.Payload) error {
	if p == nil {
		return present("payload", false)
	}
	if err := first(
		atMost("script", len(p.Script), maxScript),
		atMost("args", len(p.Args), maxStrs),
		atMost("env", len(p.Env), maxStrs),
		unixString("work_dir", p.WorkDir, maxPath),
		unixString("stdout", p.Stdout, maxPath),
		unixString("stderr", p.Stderr, maxPath),
	); err != nil {
		return in("payload", err)
	}
	for i, arg := range p.Args {
		if err := unixString("arg", arg, MaxMessage); err != nil {
			return fmt.Errorf("payload: args[%d]: %w", i, err)
		}
	}
	for i, pair := range p.Env {
		if err := checkEnv(pair); err != nil {
			return fmt.Errorf("payload: env[%d]: %w", i, err)
		}
	}
	return nil
}

func checkEnv(pair string) error {
	if strings.IndexByte(pair, '=') < 1 {
		return errors.New("is not NAME=value")
	}
	return unixString("value", pair, MaxMessage)
}

func checkLoad(l protocol.Load) error {
	return in("load", first(
		count("cpus", l.CPUs),
		count("busy", l.Busy),
		count("queued_jobs", l.QueuedJobs),
		amount("queued_work_ms", l.QueuedWork),
	))
}

func checkDigest(d protocol.Digest) error {
	return first(in("site", d.Site.Validate()), checkLoad(d.Load))
}

func checkCard(c protocol.Card) error {
	return first(
		in("site", c.Site.Validate()),
		in("number", c.Number.Validate()),
		in("public_key", checkPublicKey(c.PublicKey)),
		amount("first_start_ms", c.FirstStart),
		text("software", c.Software, 128),
		positive("protocol", c.Protocol),
		count("capacity.cpus", c.Capacity.CPUs),
		count("capacity.nodes", c.Capacity.Nodes),
		amount("capacity.memory_mb", c.Capacity.MemoryMB),
		amount("capacity.max_wall_time_ms", c.Capacity.MaxWallTime),
		count("capacity.mhz", c.Capacity.MHz),
		checkSeq(c.SeenSeq),
	)
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
