// Command standalone is the built-in policies, local schedulers and price feeds as plugins of
// their own. It is the plugin of the name that it is started by: `make plugins` links each name
// to it in bin/plugins.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // machines without a time zone database have prices too

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

const version = "1.0.0"

// shimCommand is the first argument of the process that watches a job of the engine.
const shimCommand = "shim"

// builtIn are the plugins by the names of their files.
func builtIn() map[string]sdk.Plugin {
	return map[string]sdk.Plugin{
		"tc": turnaround(), "mcmf": minCostFlow(), "stable": stableMatching(), "iss": applications(),
		"engine": engineScheduler(), "slurm": slurmScheduler(),
		"pricefile": pricesFromFiles(), "tariff": pricesByContract(),
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == shimCommand {
		os.Exit(process.ShimMain(os.Args[2:]))
	}
	name := filepath.Base(os.Args[0])
	plugin, ok := builtIn()[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "%s: no built-in plugin has the name %q; make a link to this file that is named %s\n",
			os.Args[0], name, strings.Join(slices.Sorted(maps.Keys(builtIn())), ", "))
		os.Exit(2)
	}
	sdk.Main(plugin)
}
