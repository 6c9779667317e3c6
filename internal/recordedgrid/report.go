package recordedgrid

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Report is a comparison as it is printed.
type Report struct {
	Policy    string         `json:"policy,omitempty"`  // of the simulation; empty: those of the recordings
	Jobs      int            `json:"jobs"`              // that ran
	SameSite  int            `json:"same_site"`         // ran at the same site
	Same      int            `json:"same"`              // and started at the same time
	Tolerance float64        `json:"tolerance_s"`       // of that
	Noise     float64        `json:"message_noise_s"`   // 95 % of the message latencies differ by no more from the medians
	Recorded  Totals         `json:"recorded"`          // of the recordings
	Simulated Totals         `json:"simulated"`         // of the simulation
	Classes   map[string]int `json:"classes,omitempty"` // differences by class; none for another policy
	Latencies []SiteLatency  `json:"latencies"`         // medians
	Links     []LinkLatency  `json:"links"`             // medians
	Each      []JobReport    `json:"differences"`       // jobs with a difference, by their submission
	Notes     []string       `json:"notes,omitempty"`   // what is not simulated
}

// Totals are those of all jobs.
type Totals struct {
	MeanWait float64 `json:"mean_wait_s"`
	Moved    int     `json:"jobs_moved"` // ran at another site than their origin
}

// SiteLatency is what a site needs for its work.
type SiteLatency struct {
	Site   string  `json:"site"`
	Ahead  float64 `json:"clock_ahead_s"` // of the first site's clock
	Commit float64 `json:"commit_s"`
	Call   float64 `json:"call_s"`
	Submit float64 `json:"submit_s"`
	Start  float64 `json:"start_s"`
	End    float64 `json:"end_s"`
}

// LinkLatency is that of the messages between two sites.
type LinkLatency struct {
	A        string  `json:"a"`
	B        string  `json:"b"`
	Latency  float64 `json:"latency_s"`
	Messages int     `json:"messages"`
	Lost     int     `json:"lost"`
}

// JobReport is a job with a difference.
type JobReport struct {
	Job           string  `json:"job"`
	Origin        string  `json:"origin"`
	CPUs          int     `json:"cpus"`
	Submitted     float64 `json:"submitted_s"` // after the start of the experiment
	Ran           float64 `json:"run_s"`
	Site          string  `json:"site"`
	Wait          float64 `json:"wait_s"`
	SimulatedSite string  `json:"simulated_site"`
	SimulatedWait float64 `json:"simulated_wait_s"`
	Class         Class   `json:"class,omitempty"`
	Because       string  `json:"because,omitempty"`
}

// Report makes the report. Policy names what the simulation had instead of the recorded policies; empty: nothing.
func (c *Comparison) Report(policy string) *Report {
	r := &Report{
		Policy: policy, Jobs: len(c.Jobs), Tolerance: inSeconds(c.Tolerance), Noise: inSeconds(c.Grid.Noise), Notes: c.Grid.Notes,
		Each: []JobReport{}, Links: []LinkLatency{},
	}
	name := func(site int) string { return string(c.Grid.Sites[site].Name) }
	if policy == "" {
		r.Classes = map[string]int{}
		for _, class := range Classes() {
			r.Classes[string(class)] = 0
		}
	}
	var recorded, simulated protocol.Duration
	for i := range c.Jobs {
		job := &c.Jobs[i]
		recorded, simulated = recorded+job.Wait(), simulated+job.SimulatedWait()
		if job.Site != job.Origin {
			r.Recorded.Moved++
		}
		if job.SimulatedSite != job.Origin {
			r.Simulated.Moved++
		}
		if job.Site == job.SimulatedSite {
			r.SameSite++
		}
		if c.Same(job) {
			r.Same++
			continue
		}
		if job.Class != "" {
			r.Classes[string(job.Class)]++
		}
		r.Each = append(r.Each, JobReport{
			Job: job.ID.String(), Origin: name(job.Origin), CPUs: job.CPUs, Submitted: inSeconds(job.Submitted.Sub(c.Grid.Begin)),
			Ran: inSeconds(job.Ran), Site: name(job.Site), Wait: inSeconds(job.Wait()), SimulatedSite: name(job.SimulatedSite),
			SimulatedWait: inSeconds(job.SimulatedWait()), Class: job.Class, Because: job.Because,
		})
	}
	n := float64(max(1, len(c.Jobs)))
	r.Recorded.MeanWait, r.Simulated.MeanWait = inSeconds(recorded)/n, inSeconds(simulated)/n
	for i := range c.Grid.Sites {
		s := &c.Grid.Sites[i]
		l := s.Latencies
		r.Latencies = append(r.Latencies, SiteLatency{
			Site: string(s.Name), Ahead: inSeconds(s.Ahead), Commit: inSeconds(l.Commit), Call: inSeconds(l.Call),
			Submit: inSeconds(l.Submit), Start: inSeconds(l.Start), End: inSeconds(l.End),
		})
	}
	for _, l := range c.Grid.Links {
		r.Links = append(r.Links, LinkLatency{A: name(l.A), B: name(l.B), Latency: inSeconds(l.Latency), Messages: l.Messages, Lost: l.Lost})
	}
	return r
}

// Unexplained is the number of differences of no known class.
func (r *Report) Unexplained() int { return r.Classes[string(Other)] }

// Text is the report for people.
func (r *Report) Text() string {
	under := ""
	if r.Policy != "" {
		under = " under " + r.Policy
	}
	var out strings.Builder
	sites := console.NewTable("SITE", " CLOCK", " COMMIT", " CALL", " SUBMIT", " START", " END")
	for _, s := range r.Latencies {
		sites.Add(s.Site, text(s.Ahead), text(s.Commit), text(s.Call), text(s.Submit), text(s.Start), text(s.End))
	}
	out.WriteString(sites.Text("", true))
	out.WriteByte('\n')
	links := console.NewTable("LINK", " LATENCY", " MESSAGES", " LOST")
	for _, l := range r.Links {
		links.Add(l.A+" - "+l.B, text(l.Latency), strconv.Itoa(l.Messages), strconv.Itoa(l.Lost))
	}
	out.WriteString(links.Text("", true))
	out.WriteByte('\n')
	if len(r.Each) > 0 {
		jobs := console.NewTable("JOB", "ORIGIN", " CPUS", " SUBMITTED", " RUN", "RECORDED", " WAIT", "SIMULATED", " WAIT", "CLASS", "BECAUSE")
		for _, j := range r.Each {
			jobs.Add(j.Job, j.Origin, strconv.Itoa(j.CPUs), text(j.Submitted), text(j.Ran), j.Site, text(j.Wait), j.SimulatedSite,
				text(j.SimulatedWait), string(j.Class), j.Because)
		}
		out.WriteString(jobs.Text("", true))
		out.WriteByte('\n')
	}
	change := ""
	if r.Recorded.MeanWait > 0 {
		change = fmt.Sprintf(" (%+.1f %%)", 100*(r.Simulated.MeanWait/r.Recorded.MeanWait-1))
	}
	fmt.Fprintf(&out, "Mean wait: recorded %s s, simulated%s %s s%s\n", text(r.Recorded.MeanWait), under, text(r.Simulated.MeanWait), change)
	fmt.Fprintf(&out, "Jobs moved: recorded %d, simulated%s %d\n", r.Recorded.Moved, under, r.Simulated.Moved)
	fmt.Fprintf(&out, "Same site: %d of %d jobs; start within %s s as well: %d\n", r.SameSite, r.Jobs, text(r.Tolerance), r.Same)
	if r.Classes != nil {
		out.WriteString("Differences:")
		for i, class := range Classes() {
			if i > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, " %d %s", r.Classes[string(class)], class)
		}
		fmt.Fprintf(&out, "; noise of messages %s s\n", text(r.Noise))
	}
	return out.String()
}

func inSeconds(d protocol.Duration) float64 { return float64(d) / 1000 }

func text(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }
