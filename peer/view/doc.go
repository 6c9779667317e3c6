// Package view is what a peer answers to the questions of its API: jobs, sites, quotes, refusals and
// what else people see, with their JSON form. It has no state; the core fills it in from its rows.
package view
