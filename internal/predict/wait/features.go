package wait

// The features of an arrival, by their numbers in the authors' table
// (facts/mcmf-experiments.md, section 7). Times are in seconds, work in CPU·s.
// Those of the same user and those of all count the job's own queue only; the job
// itself is never among them.
const (
	FeatureCPUs     = iota // of the job
	FeatureEstimate        // of the job
	FeatureArrival         // when it comes; never weighs
	FeatureFree            // CPUs that are free; never weighs

	FeatureUserWaiting         // jobs of the same user that wait
	FeatureUserWaitingWork     // their CPUs × estimates
	FeatureUserWaitingCPUs     // their CPUs
	FeatureUserWaitingEstimate // their estimates

	FeatureUserRunning         // jobs of the same user that run
	FeatureUserRunningWork     // and the same of these
	FeatureUserRunningCPUs     //
	FeatureUserRunningEstimate //

	FeatureWaitingEstimate // estimates of all that wait
	FeatureWaitingCPUs     // their CPUs
	FeatureWaitingElapsed  // how long they have waited, summed

	FeatureRunningEstimate // estimates of all that run
	FeatureRunningCPUs     // their CPUs
	FeatureRunningElapsed  // how long they have run, summed

	FeatureCount
)

// Features is a job as a point: what it asks for, and what it meets.
type Features [FeatureCount]float64

// ofUser tells whether a feature counts jobs of the same user.
func ofUser(feature int) bool {
	return feature >= FeatureUserWaiting && feature <= FeatureUserRunningEstimate
}

// weighs tells whether a feature may weigh at all.
func weighs(feature int) bool { return feature != FeatureArrival && feature != FeatureFree }
