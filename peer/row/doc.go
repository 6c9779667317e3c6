// Package row is what a peer keeps durably: its rows by table, their JSON form and the phases that
// they can be in. The core changes rows and gives out a [Record] for each that a step has changed;
// the shells store them; a restored peer is made from them.
package row
