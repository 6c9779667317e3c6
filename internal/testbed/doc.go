// Package testbed runs a small grid on this machine: peers as real processes on
// loopback, with generated keys, free ports and configurations of their own in
// one folder. The demo shows such a grid, tests break it.
package testbed
