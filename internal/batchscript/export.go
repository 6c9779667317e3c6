package batchscript

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// exports is what --export and --export-remote come to.
type exports struct {
	env    []string // NAME=value, sorted by name
	remote protocol.Export
}

// hand sets the variables that the job is given, and those of them that may leave the site.
func (w *jobOptions) hand(job *Job, script Script, from Origin, r *report) {
	surrounding := from.Env
	if from.Bare {
		surrounding = nil
	}
	out, err := environment(w.export, surrounding)
	if err == nil && from.Bare {
		err = onlyValues(w.export)
	}
	if err != nil {
		r.wrong(script.place(), "--export: %s", err)
		return
	}
	if w.exportRemote != "" {
		list, _ := remoteItems(w.exportRemote) // it was checked when it was set
		out.remote.All = slices.Contains(list, all)
		out.remote.Names = distinct(out.remote.Names, list)
	}
	job.Payload.Env, job.Export = out.env, out.remote
	if job.Export.All {
		w.warnOfAll(job, script, r)
	}
}

// warnOfAll says how much of the environment other sites would see.
func (w *jobOptions) warnOfAll(job *Job, script Script, r *report) {
	leave := 0
	for _, pair := range job.Payload.Env {
		name, _, _ := strings.Cut(pair, "=")
		if job.Export.Allows(name, nil) {
			leave++
		}
	}
	long := "export"
	if w.exportRemote != "" {
		long = "export-remote"
	}
	r.notice(w.spotOf(long, script).place, "--%s=ALL lets %d of the %d variables of your environment leave with the job when it runs at another site; "+
		"those that look secret stay; submit --test-only lists both", long, leave, len(job.Payload.Env))
}

// onlyValues refuses a list with variables that are to be taken over.
func onlyValues(export string) error {
	items, err := exportItems(export)
	if err != nil || export == "" {
		return err
	}
	for _, item := range items {
		if !strings.Contains(item, "=") && !none(item) {
			return fmt.Errorf("%s would be taken from this machine, of which no variables go with the job; use NAME=VALUE, or NONE", item)
		}
	}
	return nil
}

// environment chooses what --export hands over.
func environment(export string, surrounding []string) (out exports, err error) {
	items, err := exportItems(export)
	if err != nil {
		return out, err
	}
	known, chosen := withoutJob(variables(surrounding)), map[string]string{}
	if len(items) == 1 && none(items[0]) {
		return exports{env: []string{protocol.ExportVariable + "=" + export}}, nil
	}
	if slices.Contains(items, all) {
		maps.Copy(chosen, known)
		out.remote.All = export != ""
	}
	for _, item := range items {
		name, value, given := strings.Cut(item, "=")
		switch {
		case given && name == "":
			return exports{}, fmt.Errorf("%q has no name before the equals sign", item)
		case given:
			chosen[name] = value
		case none(name):
			return exports{}, fmt.Errorf("%s stands alone", name)
		case name == all:
			continue
		default:
			if value, ok := known[name]; ok {
				chosen[name] = value
			}
		}
		out.remote.Names = distinct(out.remote.Names, []string{name})
	}
	if !slices.Contains(items, all) {
		chosen[protocol.ExportVariable] = export // else tasks would get all that the script has
	}
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		out.env = append(out.env, name+"="+chosen[name])
	}
	return out, nil
}

// withoutJob are variables without those that only hold for the job, if any, in which this one is submitted.
func withoutJob(known map[string]string) map[string]string {
	for _, name := range []string{protocol.ExportVariable, "SWITCHYARD_APPLICATION", componentVariable, "SWITCHYARD_MHZ", "SWITCHYARD_PARTITION"} {
		delete(known, name)
	}
	return known
}

// distinct adds the names to the list that it does not have, but for ALL.
func distinct(list, names []string) []string {
	for _, name := range names {
		if name != all && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// all stands for every variable.
const all = "ALL"

// setExportRemote takes names, or ALL.
func setExportRemote(w *jobOptions, value string) error {
	if _, err := remoteItems(value); err != nil {
		return err
	}
	w.exportRemote = value
	return nil
}

func remoteItems(value string) ([]string, error) {
	items, err := exportItems(value)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		switch {
		case none(item):
			return nil, fmt.Errorf("%s cannot be asked for: what the site lets leave with every job leaves; --export=NONE hands nothing over at all", item)
		case strings.Contains(item, "="):
			return nil, fmt.Errorf("%q has a value; set it with --export, and name the variable here", item)
		}
	}
	if value == "" || len(items) == 0 {
		return nil, errors.New("no variable is named; write ALL, or names with commas between them")
	}
	return items, nil
}

func none(item string) bool { return item == "NONE" || item == "NIL" }

// exportItems splits the list at its commas, but for those within quotes.
func exportItems(export string) (items []string, err error) {
	if export == "" {
		return []string{all}, nil
	}
	if strings.IndexByte(export, 0) >= 0 {
		return nil, errors.New("the list has a NUL byte")
	}
	var item strings.Builder
	var quote rune
	for _, c := range export {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == ',':
			items = append(items, item.String())
			item.Reset()
		default:
			item.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	items = append(items, item.String())
	return slices.DeleteFunc(items, func(s string) bool { return s == "" }), nil
}

func variables(surrounding []string) map[string]string {
	vars := make(map[string]string, len(surrounding))
	for _, pair := range surrounding {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			vars[name] = value
		}
	}
	return vars
}
