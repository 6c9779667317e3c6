package quoting

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits is what the jobs of a partner may have here, and what guests have now.
type Limits struct {
	MaxJobs int // of the partner; 0: none are taken
	MaxCPUs int // that its jobs have together; 0: no limit
	MaxQ    int // jobs that the site takes in a period, whoever sends them; 0: any number

	Jobs, CPUs int // that the partner has here
	Guests     int // CPUs that all guests have

	Share int // of the site's CPUs that guests may have, in parts per million; 0: that is not looked at
	Site  int // CPUs of the site
}

// Reason says why a job of the partner with this number of CPUs would be one too many for what is agreed with
// it; empty: it would not.
func (l *Limits) Reason(partner protocol.SiteName, cpus int) string {
	switch {
	case l.MaxJobs <= l.Jobs:
		return fmt.Sprintf("%s has %s here, and max_jobs of its [[partner]] is %d", partner, protocol.Count(l.Jobs, "job"), l.MaxJobs)
	case l.MaxCPUs > 0 && l.CPUs+cpus > l.MaxCPUs:
		return fmt.Sprintf("jobs of %s have %s here, this one asks for %d more, and max_cpus of its [[partner]] is %d",
			partner, protocol.Count(l.CPUs, "CPU"), cpus, l.MaxCPUs)
	}
	return ""
}

// ShareReason says why a guest with this number of CPUs would be one too many for the local users; empty: it
// would not.
func (l *Limits) ShareReason(cpus int) string {
	if l.Share == 0 {
		return ""
	}
	cpus += l.Guests
	if share := int64(cpus) * protocol.PPM / l.site(); share > int64(l.Share) {
		return fmt.Sprintf("guests would have %.1f %% of the CPUs, the site allows %.1f %%", float64(share)/1e4, float64(l.Share)/1e4)
	}
	return ""
}

func (l *Limits) site() int64 { return int64(max(1, l.Site)) }

// shared is how many CPUs guests may have: the most for which [Limits.ShareReason] is empty.
func (l *Limits) shared() int {
	return int(((int64(l.Share)+1)*l.site() - 1) / protocol.PPM)
}

// Accept is how many jobs more the partner may bring now, if the site takes left jobs in this period.
func (l *Limits) Accept(left int) int { return max(0, min(l.MaxJobs-l.Jobs, left)) }

// MostJobs is how many jobs of the partner are here at once at most; 0: none.
func (l *Limits) MostJobs() int { return smaller(l.MaxJobs, l.MaxQ) }

// MostCPUs is how many CPUs the jobs of the partner have here together at most, also when no other
// guest is here; 0: any number.
func (l *Limits) MostCPUs() int {
	if l.Share > 0 {
		return smaller(l.MaxCPUs, max(1, l.shared()))
	}
	return l.MaxCPUs
}

// CPUsLeft is how many CPUs more the jobs of the partner may have here now; 0: any number, or none
// at all, so that every job is declined.
func (l *Limits) CPUsLeft() int {
	left := 0
	if l.MaxCPUs > 0 {
		left = max(0, l.MaxCPUs-l.CPUs)
	}
	if l.Share == 0 {
		return left
	}
	return smaller(left, max(0, l.shared()-l.Guests))
}

// smaller is the smaller of two limits, of which 0 is none.
func smaller(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
