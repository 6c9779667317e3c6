// Package metrics counts what a peer does, for Prometheus, and says whether it is
// well.
//
// Sites, states and reasons are labels; jobs and users never are, so that the
// number of series is bounded by the configuration.
package metrics
