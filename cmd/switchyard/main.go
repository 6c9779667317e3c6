// Command switchyard is a peer of the grid and all that people do with it:
// submitting jobs, watching them, asking why they went where they went.
package main

import (
	"context"
	"os"

	"github.com/switchyard-hpc/switchyard/localsched/process"
)

// Set by the linker.
var (
	version = "devel"
	commit  = "unknown"
)

// shimCommand is the hidden first argument of the process that watches a job.
const shimCommand = "shim"

func main() {
	// The shim stays under every job for as long as it runs. It must start
	// quickly and stay small, so it comes before everything else.
	if len(os.Args) > 1 && os.Args[1] == shimCommand {
		os.Exit(process.ShimMain(os.Args[2:]))
	}
	os.Exit(newApp().run(context.Background(), os.Args[1:]))
}
