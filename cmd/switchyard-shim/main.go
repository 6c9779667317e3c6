// Command switchyard-shim is `switchyard shim`, which watches a job, and hands its output
// to its user, in a binary of its own: it is a tenth as large and starts in a fifth of
// the time (BenchmarkStart in cmd/switchyard). The peer uses the one beside its own binary if both are of one build.
package main

import (
	"fmt"
	"os"

	"github.com/switchyard-hpc/switchyard/localsched/process"
)

// Set by the linker.
var (
	version = "devel"
	commit  = "unknown"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(version, commit)
		return
	}
	os.Exit(process.ShimMain(os.Args[1:]))
}
