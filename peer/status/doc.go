// Package status says how jobs of rows stand, for people: what a job waits for, why it needs an
// operator, how a job and a guest are shown, and which of them are on a page of the queue.
//
// It takes rows, and what is known beside them, and changes neither.
package status
