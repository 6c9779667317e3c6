package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/daemon"
)

// asBinary makes the test binary behave as switchyard itself, so that tests have
// real processes to start and kill.
const asBinary = "SWITCHYARD_TEST_AS_BINARY"

func TestMain(m *testing.M) {
	if os.Getenv(asBinary) != "" || len(os.Args) > 1 && os.Args[1] == daemon.ShimArgument {
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
