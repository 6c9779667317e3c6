package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func versionText() string {
	return fmt.Sprintf("switchyard %s (commit %s, %s, protocol %d)\n", version, commit, runtime.Version(), protocol.ProtocolVersion)
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  switchyard version --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]any{
					"version": version, "commit": commit, "go": runtime.Version(), "protocol": protocol.ProtocolVersion,
				})
			}
			a.printf("%s", versionText())
			return nil
		},
	}
	return a.query(cmd)
}
