// Command switchyard is a peer of the grid and all that people do with it:
// submitting jobs, watching them, asking why they went where they went.
package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
)

// Set by the linker.
var (
	version = "devel"
	commit  = "unknown"
)

// build is this program's.
func build() daemon.Build { return daemon.Build{Version: version, Commit: commit} }

func main() {
	// The shim stays under every job for as long as it runs. It must start
	// quickly and stay small, so it comes before everything else.
	if len(os.Args) > 1 && os.Args[1] == daemon.ShimArgument {
		os.Exit(process.ShimMain(os.Args[2:]))
	}
	if name := filepath.Base(os.Args[0]); isSlurmCommand(name) {
		os.Exit(newApp().runAs(context.Background(), name, os.Args[1:]))
	}
	os.Exit(newApp().run(context.Background(), os.Args[1:]))
}
