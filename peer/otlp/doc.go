// Package otlp exports the spans of jobs to OpenTelemetry: over OTLP/HTTP to a collector, or as lines of OTLP/JSON into a file.
//
// An [Exporter] is handed each job that has ended and each guest that has left, and does not wait: up to 1000 are in its queue, further
// ones are dropped and counted. Its own goroutine reads the log events of the job, derives its spans (peer/spans), and sends them with
// those of others. A collector that is down costs the peer nothing else.
package otlp
