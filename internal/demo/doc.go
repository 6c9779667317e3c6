// Package demo runs a grid of three sites on this machine, submits jobs at the first and shows
// where each goes. At the end every result is checked, and that each job ran exactly once.
package demo
