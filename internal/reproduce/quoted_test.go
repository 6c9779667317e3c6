package reproduce_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// daily is a log from 1995 to 2003 of a job a day, by two users in turn.
func daily() string {
	var b strings.Builder
	start := time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC)
	fmt.Fprintf(&b, "; UnixStartTime: %d\n", start.Unix())
	for day := range 8 * 365 {
		fmt.Fprintf(&b, "%d %d 0 60 1 -1 -1 1 60 -1 1 %d -1 -1 -1 -1 -1 -1\n", day+1, 86_400*day, 1+day%2)
	}
	return b.String()
}

// Without a number of jobs, grids of logs have those of two months, which begin together; where one log is that of all
// sites, each user is at one of them.
func TestGridsOfLogsHaveTwoMonths(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Jobs = 0
	for _, log := range []string{"SDSC-Par-1996-3.1-cln", "SDSC-BLUE-2000-4.2-cln", "KTH-SP2-1996-2.1-cln", "SDSC-SP2-1998-4.2-cln"} {
		put(t, packed(t, []byte(daily())), o.Data, "traces", log+".swf.gz")
	}
	grids, err := reproduce.Logged(o)
	if err != nil {
		t.Fatal(err)
	}
	// October and November, May and June, April and May; then February and March, March and April, August and September.
	for i, want := range []int{61 + 61 + 61, 59 + 61 + 61} {
		if len(grids[i]) != want {
			t.Errorf("grid %d has %d jobs, want %d", i+1, len(grids[i]), want)
		}
	}
	origins := map[int][]int{}
	for _, job := range grids[2] {
		if !slices.Contains(origins[job.User], job.Origin) {
			origins[job.User] = append(origins[job.User], job.Origin)
		}
	}
	if len(grids[2]) != 61 || len(origins) != 2 || len(origins[1]) != 1 || len(origins[2]) != 1 || origins[1][0] == origins[2][0] {
		t.Errorf("%d jobs of March and April, of users at %v", len(grids[2]), origins)
	}
	for i, jobs := range grids {
		if first, last := jobs[0].Submit, jobs[len(jobs)-1].Submit; first != 0 || last >= protocol.Instant(62*protocol.Day) {
			t.Errorf("grid %d has jobs from %v to %v", i+1, first, last)
		}
	}
}
