package wait

import (
	"math"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait/dbscan"
)

// circle is the jobs nearest to an arrival, as points (distance, wait ÷ range)
// with their labels, in the order of the distance.
type circle struct {
	distance []float64
	height   []float64 // wait ÷ range
	wait     []float64 // seconds
	labels   []int
}

// circleOf clusters neighbours.
func circleOf(h *History, near []neighbour, waitRange float64, density dbscan.Density, c circle) circle {
	c.distance, c.height, c.wait = c.distance[:0], c.height[:0], c.wait[:0]
	for _, n := range near {
		waited := h.waits[n.place]
		c.distance = append(c.distance, math.Sqrt(n.square))
		c.wait = append(c.wait, waited)
		if waitRange > 0 {
			waited /= waitRange
		}
		c.height = append(c.height, waited)
	}
	c.labels = dbscan.Sorted(c.distance, c.height, density)
	return c
}

// alike tells whether the circle is alike enough to stand for the job: near and
// with few outliers, or loose with none.
func (c circle) alike(p *Params) bool {
	outliers, clusters, sum := 0, 0, 0.0
	for i, label := range c.labels {
		if label == dbscan.Noise {
			outliers++
		}
		clusters = max(clusters, label+1)
		sum += c.distance[i]
	}
	mean := sum / float64(len(c.distance))
	if outliers == 0 && mean < p.Loose {
		return true
	}
	if clusters == 0 {
		return false
	}
	size := float64(len(c.labels)-outliers) / float64(clusters)
	return mean <= p.Near && float64(outliers) < p.Outliers*size
}

// steadiest is the wait in the window of distances whose waits scatter least: the
// mean weighted by exp(−distance²), without outliers; ok is false if no window
// has two jobs. Windows begin at the smallest distance and move by their width.
func (c circle) steadiest(p *Params) (wait float64, ok bool) {
	least := math.Inf(1)
	first := 0
	for step := 0; ; step++ {
		begin := c.distance[0] + float64(step)*p.Window
		if begin > p.Near {
			return wait, ok
		}
		for first < len(c.distance) && c.distance[first] < begin {
			first++
		}
		after := first
		for after < len(c.distance) && c.distance[after] < begin+p.Window {
			after++
		}
		if mean, scatter, enough := c.window(first, after); enough && scatter < least {
			wait, least, ok = mean, scatter, true
		}
	}
}

// window is the weighted mean wait of a stretch of the circle and the variance of
// its waits.
func (c circle) window(first, after int) (mean, variance float64, enough bool) {
	var count, sum, squares, weights, weighted float64
	for i := first; i < after; i++ {
		if c.labels[i] == dbscan.Noise {
			continue
		}
		weight := math.Exp(-c.distance[i] * c.distance[i])
		count++
		sum += c.wait[i]
		weights += weight
		weighted += weight * c.wait[i]
	}
	if count < 2 {
		return 0, 0, false
	}
	for i := first; i < after; i++ {
		if c.labels[i] != dbscan.Noise {
			squares += (c.wait[i] - sum/count) * (c.wait[i] - sum/count)
		}
	}
	return weighted / weights, squares / count, true
}
