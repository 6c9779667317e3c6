// Package notices notifies other programs of the states of jobs: each change goes as JSON to a command, to a
// URL, or to both.
package notices
