package mincostflow

// Nowhere is the system of a job that is not served.
const Nowhere = -1

// Solution is an optimal flow and the prices that prove it.
type Solution struct {
	System []int32 // of each job, or Nowhere
	Flow   int     // jobs served
	Cost   int64   // of their pairs and steps

	// Prices are what a place on each system is worth, 0 where places are left
	// over and without steps; Unserved is what it costs to leave a job out. See
	// [Certify].
	Prices   []int64
	Unserved int64

	// Hint makes solving a similar problem faster; see [Solve].
	Hint []byte
}
