// Package testbed runs a small grid on this machine: peers on loopback, with generated keys,
// free ports and configurations of their own in one directory. The demo shows such a grid, tests
// break it. A peer is a real process of the binary ([Site.Start]), or a part of the caller's
// ([Site.Daemon]); both are what the service runs, peer/daemon.
package testbed
