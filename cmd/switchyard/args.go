package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// noCommand rejects arguments of a command that has only subcommands.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(cmd, args[0])
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// someJobs asks for one or more job ids.
func someJobs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("%s: missing job ID; \"switchyard queue\" lists the jobs", cmd.CommandPath())
	}
	_, err := jobNames(args)
	return err
}

// oneJob asks for one job id.
func oneJob(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%s takes one job ID, got %d", cmd.CommandPath(), len(args))
	}
	if err := someJobs(cmd, args); err != nil {
		return err
	}
	if names, err := oneByOne(args); err != nil || len(names) != 1 {
		return cmp.Or(err, usage("%s takes one job; %s are several", cmd.CommandPath(), args[0]))
	}
	return nil
}

// nearFlag returns the flag of the command that is nearest to a misspelled one, or "".
func nearFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near, _ := settings.Nearest(name, names)
	return near
}

func decimalOnly(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// maxElements bounds the elements of arrays that a command does something to one by one.
const maxElements = 10_000

// oneByOne reads jobs, arrays and elements of arrays, as ID, ID_7 and ID_[1-5,9]. Each element gets a name of its own.
func oneByOne(args []string) (names []protocol.JobName, err error) {
	given, err := jobNames(args)
	if err != nil {
		return nil, err
	}
	for _, name := range given {
		each, err := eachElement(name)
		if err != nil {
			return nil, usage("%w", err)
		}
		names = append(names, each...)
	}
	return names, nil
}

// eachElement has a name for each of the elements that are named together, or the name of a job or of a whole array.
func eachElement(name protocol.JobName) (names []protocol.JobName, err error) {
	switch {
	case name.Elements.IsZero():
		return []protocol.JobName{name}, nil
	case name.Elements.Len() > maxElements:
		return nil, fmt.Errorf("%s names more than %d elements; name fewer, or the array", name, maxElements)
	}
	for index := range name.Elements.All() {
		names = append(names, protocol.JobName{Job: name.Job, Elements: protocol.IndexesOf(index)})
	}
	return names, nil
}

func jobNames(args []string) ([]protocol.JobName, error) {
	names := make([]protocol.JobName, 0, len(args))
	for _, arg := range args {
		name, err := protocol.ParseJobName(arg)
		if err != nil && decimalOnly(arg) {
			return nil, &exitError{exitNotFound, fmt.Errorf("no job %s: %w; \"switchyard queue\" lists the jobs", arg, err)}
		}
		if err != nil {
			return nil, usage("%w; \"switchyard queue\" lists the jobs", err)
		}
		names = append(names, name)
	}
	return names, nil
}

// givenList is the value of an option that is a list, nil if it was not given.
type givenList struct {
	name   string
	values []string
}

// notEmpty rejects empty lists and values, which could mean no jobs or all jobs.
func notEmpty(lists []givenList) error {
	for _, list := range lists {
		if list.values != nil && (len(list.values) == 0 || slices.Contains(list.values, "")) {
			return usage("--%s: empty value", list.name)
		}
	}
	return nil
}

// readSites reads an option with names of sites; "-", the grid queue, becomes the empty name.
func readSites(option string, names []string) (sites []protocol.SiteName, err error) {
	for _, name := range names {
		site := protocol.SiteName(name)
		if name == "-" {
			site = ""
		} else if err = site.Validate(); err != nil {
			return nil, usage("--%s: %w", option, err)
		}
		sites = append(sites, site)
	}
	return sites, nil
}
