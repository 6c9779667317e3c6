package slurm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestParseReservations(t *testing.T) {
	t.Parallel()
	const one = "ReservationName=sy.north.7.3 StartTime=2026-11-21T19:47:22 EndTime=2026-11-21T19:52:14 " +
		"Duration=00:04:52 Nodes=a1 NodeCnt=1 CoreCnt=4 PartitionName=batch Flags=   NodeName=a1 CoreIDs=0-3 Users=nobody\n"
	const daily = "ReservationName=maintenance StartTime=2026-11-21T19:47:22 EndTime=2026-11-21T19:52:14 Duration=00:04:52 Nodes=a[1-2] " +
		"NodeCnt=2 CoreCnt=16 Features=(null) PartitionName=(null) Flags=MAINT,DAILY,SPEC_NODES TRES=cpu=16 Users=root State=INACTIVE\n"
	got, err := slurm.ParseReservations(one + "\n" + daily)
	want := []string{
		"sy.north.7.3 from 2026-11-21T19:47:22 to 2026-11-21T19:52:14 every 0s: [a1], 4 cores map[a1:4]",
		"maintenance from 2026-11-21T19:47:22 to 2026-11-21T19:52:14 every 24h0m0s: [a1 a2], 16 cores map[] for maintenance",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if got, err = slurm.ParseReservations("No reservations in the system\n"); err != nil || len(got) > 0 {
		t.Errorf("where there are none: %q, %v", got, err)
	}
	if _, err = slurm.ParseReservations(strings.Replace(one, "2026", "x", 1)); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a damaged time: %v", err)
	}
}

func TestReservationsRoundUp(t *testing.T) {
	t.Parallel()
	for at, want := range map[protocol.Instant]protocol.Instant{0: 0, 1: 1000, 999: 1000, 1000: 1000, 1001: 2000} {
		if got := slurm.WholeSecond(at); got != want {
			t.Errorf("the second of %d is %d, want %d", at, got, want)
		}
	}
	for _, c := range [][3]int{{0, 2, 0}, {1, 2, 1}, {2, 2, 1}, {3, 2, 2}, {-1, 2, 0}, {3, 0, 3}} {
		if got := slurm.Ceil(c[0], c[1]); got != c[2] {
			t.Errorf("%d/%d is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// TestSpread: of many instants some are tried, always the first and the last.
func TestSpread(t *testing.T) {
	t.Parallel()
	many := []protocol.Instant{1, 2, 3, 4, 5, 6, 7, 8}
	for most, want := range map[int][]protocol.Instant{2: {1, 8}, 3: {1, 4, 8}, 7: {1, 2, 3, 4, 5, 6, 8}, 8: many, 9: many} {
		if got := slurm.Spread(many, most); !slices.Equal(got, want) {
			t.Errorf("%d of %v are %v, want %v", most, many, got, want)
		}
	}
}
