package main

import (
	"context"
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
	}
	return describes(a, cmd, func(context.Context, []string) (map[string]any, error) {
		return map[string]any{"version": version, "commit": commit, "go": runtime.Version(), "protocol": protocol.ProtocolVersion}, nil
	}, func(map[string]any) string { return versionText() })
}
