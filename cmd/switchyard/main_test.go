package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/daemon"
)

// asBinary makes the test binary behave as switchyard itself, so that tests have
// real processes to start and kill. Its value is the commit that it is of.
const asBinary = "SWITCHYARD_TEST_AS_BINARY"

// testCommit is the one that the Makefile names for what it builds for tests.
const testCommit = "test"

func TestMain(m *testing.M) {
	if as := os.Getenv(asBinary); as != "" || len(os.Args) > 1 && os.Args[1] == daemon.ShimArgument {
		if as != "" {
			commit = as
		}
		main()
		return
	}
	if socket := os.Getenv(asHost); socket != "" {
		if err := relayIn(context.Background(), socket, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 {
		servePlugin(os.Args[1])
	}
	os.Exit(m.Run())
}
