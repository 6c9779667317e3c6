// Package step is the bookkeeping of a step that all parts of a peer have in common, and that
// knows nothing of scheduling: chance, the calls that are not answered yet, and the rows that
// the step has changed. All of it is data.
package step
