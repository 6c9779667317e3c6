package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
)

func (a *app) simReportCommand() *cobra.Command {
	var out, title string
	cmd := &cobra.Command{
		Use:   "report RESULTS.json... --out DIR",
		Short: "Write a page and figures of results",
		Long: "Write an HTML page of the output of sim run --json and sim sweep --json, and each of its figures as\n" +
			"an SVG file. Bars compare schemes as in the superscheduler paper, with the values that its text\n" +
			"gives; curves show sweeps.",
		Example: "  switchyard sim run heavy --json >heavy.json\n" +
			"  switchyard sim sweep light --json >light.json\n" +
			"  switchyard sim report heavy.json light.json --out report",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("%s requires the JSON output of sim run or sim sweep", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usage("missing --out; set it to a directory for the page")
			}
			return a.report(args, out, title)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "directory for index.html and the figures; it is created")
	cmd.Flags().StringVar(&title, "title", "Simulation results", "title of the page")
	return cmd
}

func (a *app) report(paths []string, dir, title string) error {
	results, inputs, err := experiment.ReadResults(paths)
	if err != nil {
		return err
	}
	source := report.Source{
		Command: "switchyard sim report " + strings.Join(paths, " ") + " --out " + dir, Version: version, Inputs: inputs,
	}
	page, err := experiment.Page(title, results, source)
	if err != nil {
		return err
	}
	made, err := page.WriteDir(dir)
	for _, path := range made {
		a.printf("%s\n", console.Plain(path))
	}
	return err
}

func (a *app) writePage(path string, page *report.Page) error {
	html, err := page.HTML()
	return errors.Join(err, a.writeBytes(path, html))
}

func (a *app) writeBytes(path string, data []byte) error {
	return a.writeFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
