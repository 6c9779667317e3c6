package daemon

import (
	"os"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/process"
)

// TestMain makes the test binary the shim as well, as a program that runs a daemon must.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ShimArgument {
		os.Exit(process.ShimMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}
