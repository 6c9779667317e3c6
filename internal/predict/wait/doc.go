// Package wait predicts how long a job will wait in the queue of a batch system,
// from what the system's earlier jobs asked for, met and got. It knows no
// scheduling policy.
//
//	 submissions, starts, ends          a job, to be asked about
//	            │                                  │
//	            ▼                                  ▼
//	┌─ State ────────────────┐         ┌─ Arrival ─────────────────┐
//	│ sums over what waits   │ ──────► │ the job and its Features: │
//	│ and what runs          │         │ what it meets             │
//	└───────────┬────────────┘         └───────────┬───────────────┘
//	            │ Event                            │
//	            ▼                                  ▼
//	┌─ Predictor ─────────────────────────────────────────────────┐
//	│ Adaptive   similar jobs, clustered; else ridge regression   │ ─► Prediction
//	│ QBETS      binomial bounds on the waits of a size class     │    wait, P10 to
//	│ IBL        the nearest jobs, weighted by a kernel           │    P90, bound
//	└─────────────────────────────────────────────────────────────┘
//
// Besides, [Plan] corrects the plans of the batch system, [Baselines] look at no
// job, and [Auto] answers with the estimate of these that was best lately.
//
// [Evaluate] replays a trace whose waits are known and scores any predictors side
// by side.
//
// A predictor observes every [Event], in order, and answers for any [Arrival]. It
// is deterministic: equal calls give equal answers. It is not safe for use by
// several goroutines.
package wait
