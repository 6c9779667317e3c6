package main

import "github.com/spf13/cobra"

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion (bash|zsh|fish)",
		Short: "Print a shell completion script",
		Example: "  switchyard completion bash >/etc/bash_completion.d/switchyard\n" +
			"  source <(switchyard completion zsh)",
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("missing shell: use bash, zsh or fish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.stdout)
			case "fish":
				return cmd.Root().GenFishCompletion(a.stdout, true)
			}
			return usage("unknown shell %q; use bash, zsh or fish", args[0])
		},
	}
}
