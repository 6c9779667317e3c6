package stable

import "github.com/switchyard-hpc/switchyard/plugins/policy"

// holding are the jobs that a site holds for now: a heap with the one that it likes
// least on top.
type holding struct {
	in   *policy.Snapshot
	site int
	jobs []int
}

// consider takes a job in, if there is room or the site likes it more than one that it
// holds. It returns who is left without a site: the job, that other one, or none.
func (h *holding) consider(job int) int {
	if len(h.jobs) < h.in.Sites[h.site].MaxJobs {
		h.add(job)
		return noJob
	}
	if len(h.jobs) == 0 || !h.likes(job, h.jobs[0]) {
		return job
	}
	given := h.jobs[0]
	h.replaceTop(job)
	return given
}

// likes says whether the site prefers a job to another: it costs less, or as much and
// comes first in the queue.
func (h *holding) likes(job, other int) bool {
	a, b := h.in.Cost[h.in.At(job, h.site)], h.in.Cost[h.in.At(other, h.site)]
	return a < b || a == b && job < other
}

func (h *holding) add(job int) {
	h.jobs = append(h.jobs, job)
	i := len(h.jobs) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h.likes(job, h.jobs[parent]) {
			break
		}
		h.jobs[i], i = h.jobs[parent], parent
	}
	h.jobs[i] = job
}

func (h *holding) replaceTop(job int) {
	i := 0
	for child := 1; child < len(h.jobs); child = 2*i + 1 {
		if right := child + 1; right < len(h.jobs) && h.likes(h.jobs[child], h.jobs[right]) {
			child = right
		}
		if h.likes(h.jobs[child], job) {
			break
		}
		h.jobs[i], i = h.jobs[child], child
	}
	h.jobs[i] = job
}
