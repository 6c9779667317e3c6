package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands",
		Long: "Write a manual page of each command into a directory, which is created if it is missing:\n" +
			"switchyard.1, switchyard-submit.1 and so on. Their date is SOURCE_DATE_EPOCH (seconds since 1970)\n" +
			"if that is set, and else today.",
		Example: "  switchyard man /usr/local/share/man/man1",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("missing directory; for example: switchyard man /usr/local/share/man/man1")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.writeManual(args[0]) },
	}
}

// writeManual writes the pages of all commands that help lists. They do not depend on the environment,
// of which some flags have their defaults, but for SOURCE_DATE_EPOCH.
func (a *app) writeManual(dir string) error {
	var date time.Time
	if epoch := a.getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return usage("SOURCE_DATE_EPOCH: invalid value %q; use seconds since 1970", epoch)
		}
		date = time.Unix(seconds, 0).UTC()
	} else {
		date = a.now().UTC()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for all
		return fmt.Errorf("create the directory of the manual pages: %w", err)
	}
	root := (&app{getenv: func(string) string { return "" }}).root()
	root.DisableAutoGenTag = true
	forManual(root)
	hideFlags(root)
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "switchyard " + version, Manual: "Switchyard"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return fmt.Errorf("write the manual pages: %w", err)
	}
	return nil
}

// forManual makes Markdown of the texts of a command and of those below it, from which cobra makes
// manual pages. The options are put at the end of the description, and then hidden: cobra's own list
// has their defaults in the place of the names of their values.
func forManual(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		forManual(sub)
	}
	cmd.InitDefaultHelpFlag()
	_, line, _ := strings.Cut(cmd.UseLine(), cmd.CommandPath())
	cmd.Use, cmd.DisableFlagsInUseLine = cmd.Name()+markdown.Replace(line), true
	cmd.Long = markdownOf(cmp.Or(cmd.Long, cmd.Short)) + options("OPTIONS", cmd.LocalFlags()) +
		options("OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	cmd.Short = markdown.Replace(cmd.Short)
}

// hideFlags hides the flags of a command and of those below it.
func hideFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	for _, sub := range cmd.Commands() {
		hideFlags(sub)
	}
}

// markdown escapes what Markdown would read as markup within a line.
var markdown = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "|", `\|`, "&", `\&`, "~", `\~`, ":", `\:`,
)

// markdownOf keeps the paragraphs of a text, and the lines of those with indented ones, which are tables.
func markdownOf(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, paragraph := range paragraphs {
		if strings.Contains("\n"+paragraph, "\n ") {
			paragraphs[i] = "```\n" + paragraph + "\n```"
		} else {
			paragraphs[i] = markdown.Replace(paragraph)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// options are the flags that help lists, as a section of a page. Of their defaults it has those that
// help prints.
func options(title string, flags *pflag.FlagSet) string {
	if !flags.HasAvailableFlags() {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n# " + title + "\n")
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		b.WriteString("\n")
		if flag.Shorthand != "" {
			b.WriteString("**-" + flag.Shorthand + "**, ")
		}
		b.WriteString("**--" + flag.Name + "**")
		value, about := pflag.UnquoteUsage(flag)
		if value != "" {
			b.WriteString(" *" + markdown.Replace(value) + "*")
		}
		// pflag does not export which defaults it prints.
		if unset := []string{"", "0", "0s", "false", "[]"}; !slices.Contains(unset, flag.DefValue) {
			about += " (default " + flag.DefValue + ")"
		}
		b.WriteString("\n: " + markdown.Replace(strings.Join(strings.Fields(about), " ")) + "\n")
	})
	return b.String()
}
