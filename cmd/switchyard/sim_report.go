package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		Short: "Make a page and figures of results",
		Long: "Make an HTML page of what sim run --json and sim sweep --json printed, and each figure of it as an\n" +
			"SVG file beside it. Results of several schemes stand beside each other as in the superscheduler\n" +
			"paper, with the values that its text gives; sweeps are curves.",
		Example: "  switchyard sim run heavy --json >heavy.json\n" +
			"  switchyard sim sweep light --json >light.json\n" +
			"  switchyard sim report heavy.json light.json --out report",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("%s needs the JSON of sim run or sim sweep", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usage("name a folder for the page with --out")
			}
			return a.report(args, out, title)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder for index.html and the figures; it is made")
	cmd.Flags().StringVar(&title, "title", "Simulation results", "of the page")
	return cmd
}

func (a *app) report(paths []string, dir, title string) error {
	var results []*experiment.Swept
	source := report.Source{
		Command: "switchyard sim report " + strings.Join(paths, " ") + " --out " + dir, Version: version,
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		result, err := experiment.ParseResults(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		results = append(results, result)
		source.Inputs = append(source.Inputs, report.NewInput(filepath.Base(path), data))
	}
	page, err := experiment.Page(title, results, source)
	if err != nil {
		return err
	}
	made, err := a.writeFolder(dir, &page)
	for _, path := range made {
		a.printf("%s\n", console.Plain(path))
	}
	return err
}

// writeFolder writes a page and its figures into a folder, which it makes, and returns
// their paths.
func (a *app) writeFolder(dir string, page *report.Page) (made []string, err error) {
	if err = os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a report is for everybody
		return nil, err
	}
	made = []string{filepath.Join(dir, "index.html")}
	if err = a.writePage(made[0], page); err != nil {
		return nil, err
	}
	for _, section := range page.Sections {
		for _, figure := range section.Figures {
			path := filepath.Join(dir, figure.Name+".svg")
			if err = a.writeBytes(path, figure.SVG()); err != nil {
				return made, err
			}
			made = append(made, path)
		}
	}
	return made, nil
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
