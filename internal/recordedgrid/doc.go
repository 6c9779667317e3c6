// Package recordedgrid makes an experiment of the recordings of all sites of a grid, and compares what the
// simulator makes of it with what the sites recorded, job by job.
//
// A recording has the inputs of one peer. With the replayed outputs of all peers it is known when each message
// was sent and received, how long calls took, and when each job was submitted, queued, started and ended. The
// times of a site are by its own clock; messages in both directions show how far two clocks are apart.
package recordedgrid
