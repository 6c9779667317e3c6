// Package spans derives the spans of a job's way from what a site keeps of it: its view and its log events.
//
//	job                      at the origin; below the span of the program that submitted it, if that has one
//	├── grid queue           from the submission, or from when the job is requeued, until it is placed
//	│   ├── round            one collection of quotes and the decision on them
//	│   └── hand-off         from the offer until the partner has accepted the job
//	│       └── placement    at the partner, from its preparation until the origin has the result
//	│           ├── local queue, run, results
//	├── placement            at the origin, if the job runs there
//	│   ├── local queue
//	│   └── run
//	└── results              at the origin: files of a run at a partner come home
//
// IDs are no chance and no state: they are hashes of the job, when it was submitted, and the epoch or the instant of the span.
// So each site names the spans of the others without asking, and a peer that was restarted goes on with the same trace.
//
// The spans of a job are made at its end, all at once, from the log events that lasted until then. Lost ones leave spans out, or
// make them longer, and no more than that.
package spans
