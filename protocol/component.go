package protocol

import (
	"cmp"
	"errors"
	"fmt"
)

// Job is a job as its user describes it to a peer. Spec.Job, Spec.User, Spec.Submitted and
// Spec.Like are set by the peer.
type Job struct {
	Spec      Spec      `json:"spec"`
	Payload   *Payload  `json:"payload,omitempty"` // nil: it is only asked about
	Component Component `json:"component,omitzero"`
	Export    Export    `json:"export,omitzero"`
	Mail      Mail      `json:"mail,omitzero"`
	Array     *Array    `json:"array,omitempty"` // whose elements are as this job; nil: it is one job

	Conditions Conditions `json:"conditions,omitzero"` // before which it does not start

	NoRequeue bool `json:"no_requeue,omitempty"` // it is not started again, even if its user asks for that
}

// CountIDs counts the job IDs that jobs take when they are submitted.
func CountIDs(jobs []Job) (count uint64) {
	for i := range jobs {
		if a := jobs[i].Array; a != nil {
			count += a.Block()
		} else {
			count++
		}
	}
	return count
}

// CountJobs counts jobs, and of an array its elements.
func CountJobs(jobs []Job) (count int) {
	for i := range jobs {
		if a := jobs[i].Array; a != nil {
			count += a.Indexes.Len()
		} else {
			count++
		}
	}
	return count
}

// Check says what is wrong with the job, if anything, wherever it is submitted: at the API and in
// the peer.
func (j *Job) Check() error {
	return cmp.Or(j.Spec.Check(), j.CheckShapes(), j.Component.check(), j.Mail.check(), j.Conditions.check(), j.checkCorrespondence(), j.Payload.Check(), j.Array.Check())
}

// checkCorrespondence says that a job which is no array waits as only arrays can.
func (j *Job) checkCorrespondence() error {
	if j.Array == nil && j.Conditions.Dependency.Corresponds() {
		return errors.New("aftercorr is for job arrays, each element of which waits for one of another array; use afterok")
	}
	return nil
}

// Component is what the origin alone knows of a job [IS 1].
type Component struct {
	Name     string   `json:"name,omitempty"`   // that its executions are kept under; empty: the job's
	Shapes   []Shape  `json:"shapes,omitempty"` // that it may run in, besides that of the Spec
	Behavior Behavior `json:"behavior"`
	Estimate Duration `json:"estimate_ms,omitempty"` // run time in the Spec's shape, on the CPUs that the wall time is meant for; 0: not known
	Alpha    int      `json:"compute_weight_ppm"`    // α_k, γ_k, δ_k
	Gamma    int      `json:"energy_weight_ppm"`
	Delta    int      `json:"data_weight_ppm"`
	Together int      `json:"together,omitempty"` // components of an application with one number above 0 start together
}

// Shape is a way to run a moldable component [IS 4.2: p_k].
type Shape struct {
	CPUs     int      `json:"cpus"`
	Nodes    int      `json:"nodes,omitempty"`
	WallTime Duration `json:"wall_time_ms"`
	Estimate Duration `json:"estimate_ms,omitempty"` // 0: not known
}

// MaxShapes is the most shapes that a job may have, that of its Spec with them.
const MaxShapes = 16

func (c *Component) check() error {
	if c.Estimate < 0 {
		return fmt.Errorf("component: estimate_ms is %d; use 0 or more", c.Estimate)
	}
	for i, shape := range c.Shapes {
		if shape.Estimate < 0 {
			return fmt.Errorf("component: shapes[%d]: estimate_ms is %d; use 0 or more", i, shape.Estimate)
		}
	}
	if err := c.Behavior.check(); err != nil {
		return fmt.Errorf("component: behavior: %w", err)
	}
	return checkLabel("component: name", c.Name, maxLabel)
}

// CheckShapes says what is wrong with the shapes of a job besides that of its Spec, if anything.
func (j *Job) CheckShapes() error {
	shapes := j.Component.Shapes
	if len(shapes) >= MaxShapes {
		return fmt.Errorf("the job may run in %d shapes; use at most %d", len(shapes)+1, MaxShapes)
	}
	seen := map[int]bool{j.Spec.CPUs: true}
	for _, s := range shapes {
		r := Request{CPUs: s.CPUs, Nodes: s.Nodes, WallTime: s.WallTime, Layout: j.Spec.Layout}
		if err := r.CheckRequest(); err != nil {
			return err
		}
		if seen[s.CPUs] {
			return fmt.Errorf("the job names %d CPUs twice", s.CPUs)
		}
		seen[s.CPUs] = true
	}
	return nil
}
