package workload

import (
	"math"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Traits are what a log and jobs drawn from its model are compared by.
type Traits struct {
	Jobs         int        `json:"jobs"`
	Load         float64    `json:"load"`          // work in proportion to what the machine can do between the first submission and the last
	CPUs         float64    `json:"mean_cpus"`     // of a job
	Run          float64    `json:"mean_run_s"`    // of a job
	Gap          float64    `json:"mean_gap_s"`    // between two submissions
	GapVariation float64    `json:"gap_variation"` // coefficient of variation of these
	PeakHour     int        `json:"peak_hour"`     // of the day, with the most submissions
	Weekdays     [7]float64 `json:"weekday_share"` // submissions on each day of the week from Sunday, parts of 1
}

// TraitsOf returns the traits of jobs in the order of their submissions. When their
// time begins, clocks at the site show begin, in the fields of a time in UTC.
func TraitsOf(jobs []Job, m Machine, begin time.Time) Traits {
	t := Traits{Jobs: len(jobs)}
	if len(jobs) == 0 {
		return t
	}
	count := float64(len(jobs))
	squares, work := 0.0, 0.0
	var hours [24]int
	for i, j := range jobs {
		work += float64(j.Work())
		t.CPUs += float64(j.CPUs) / count
		t.Run += float64(j.Run) / float64(protocol.Second) / count
		at := time.Unix(begin.Unix()+int64(j.Submit)/int64(protocol.Second), 0).UTC()
		hours[at.Hour()]++
		t.Weekdays[at.Weekday()] += 1 / count
		if i > 0 {
			gap := float64(j.Submit.Sub(jobs[i-1].Submit)) / float64(protocol.Second)
			t.Gap += gap / (count - 1)
			squares += gap * gap / (count - 1)
		}
	}
	for hour, submitted := range hours {
		if submitted > hours[t.PeakHour] {
			t.PeakHour = hour
		}
	}
	span := float64(jobs[len(jobs)-1].Submit.Sub(jobs[0].Submit))
	t.Load = work / max(1, span) / float64(m.CPUs())
	if t.Gap > 0 {
		t.GapVariation = math.Sqrt(max(0, squares-t.Gap*t.Gap)) / t.Gap
	}
	return t
}
