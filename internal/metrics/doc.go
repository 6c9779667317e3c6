// Package metrics exports the Prometheus metrics of a peer and its health endpoints.
//
// Sites, states and reasons are labels. Jobs and users never are, so that the
// configuration bounds the number of series.
package metrics
