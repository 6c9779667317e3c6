// Package schedule schedules the jobs of a trace on one machine by the batch engine alone: without
// a power budget and, where there is one, within it, and compares the schedules.
package schedule
