package quoting_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestClaims(t *testing.T) {
	t.Parallel()
	claims := quoting.Claims{}
	add := func(since protocol.Instant, job protocol.JobID, epoch protocol.Epoch, cpus int) {
		claims.Add(protocol.Tag{Job: job, Epoch: epoch}, since, protocol.Request{Job: job, CPUs: cpus}, protocol.Association{Partition: "long"})
	}
	add(20, 1, 1, 1)
	add(10, 3, 1, 2)
	add(10, 2, 2, 3)
	add(10, 2, 1, 4)
	want := []protocol.Tag{{Job: 2, Epoch: 1}, {Job: 2, Epoch: 2}, {Job: 3, Epoch: 1}, {Job: 1, Epoch: 1}}
	tags := func() (out []protocol.Tag) {
		for _, one := range claims.Ahead() {
			out = append(out, one.Tag)
		}
		return out
	}
	if got := tags(); !slices.Equal(got, want) {
		t.Errorf("the oldest first, and then by tag: %v, want %v", got, want)
	}
	if got := claims.Ahead()[3]; !reflect.DeepEqual(got, localsched.Tentative{Tag: want[3], Request: protocol.Request{Job: 1, CPUs: 1}, Association: protocol.Association{Partition: "long"}}) {
		t.Errorf("the claim is %+v", got)
	}
	if got := claims.Free(12); got != 2 {
		t.Errorf("%d of 12 CPUs are free, want 2", got)
	}
	if got := claims.Free(9); got != 0 {
		t.Errorf("%d of 9 CPUs are free, want 0", got)
	}
	add(5, 2, 2, 1) // again, since an earlier instant
	claims.Drop(protocol.Tag{Job: 3, Epoch: 1})
	claims.Drop(protocol.Tag{Job: 3, Epoch: 9}) // has none
	if got, want := tags(), []protocol.Tag{{Job: 2, Epoch: 2}, {Job: 2, Epoch: 1}, {Job: 1, Epoch: 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := claims.Free(12); got != 6 {
		t.Errorf("%d of 12 CPUs are free, want 6", got)
	}
}

func TestGuarded(t *testing.T) {
	t.Parallel()
	var open *quoting.Guarded
	if !open.Reserve(protocol.Request{CPUs: 1}) {
		t.Error("a question that is not guarded has no bound")
	}
	guarded := &quoting.Guarded{}
	for cpus := range 256 {
		if !guarded.Reserve(protocol.Request{Job: 1, CPUs: cpus}) {
			t.Fatalf("no place for the shape %d", cpus)
		}
	}
	if guarded.Reserve(protocol.Request{Job: 1, CPUs: 256}) {
		t.Error("a place for one more shape")
	}
	if !guarded.Reserve(protocol.Request{Job: 2, CPUs: 7}) {
		t.Error("another job of a shape has no place")
	}
}

func TestDelayReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quote protocol.Quote
		limit protocol.Duration
		want  string
	}{
		"not looked at":     {protocol.Quote{Delay: protocol.Hour}, 0, ""},
		"none":              {protocol.Quote{}, protocol.Minute, ""},
		"as much as it may": {protocol.Quote{Delay: protocol.Minute}, protocol.Minute, ""},
		"more": {
			protocol.Quote{Delay: 2 * protocol.Minute},
			protocol.Minute,
			"would delay a waiting job of this site by 0:02:00, it allows 0:01:00",
		},
		"it is declined anyway": {protocol.Quote{Delay: protocol.Hour, Declined: "no"}, protocol.Minute, ""},
	} {
		if got := quoting.DelayReason(&c.quote, c.limit); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
