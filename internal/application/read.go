package application

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// MaxFile is the longest file, in bytes.
const MaxFile = 4 << 20

// Source is where an application is read from.
type Source struct {
	Name   string // the file's path, for messages; scripts are named relative to its directory
	Text   string
	Script func(path string) (batchscript.Script, error) // reads a component's script
}

// Read reads an application. The options are those of the command line, in their order.
// The notices are for people, one a line. The error is a [*batchscript.Error] that lists
// every problem.
func Read(
	from Source, options []batchscript.Setting, origin batchscript.Origin,
) (batch batchscript.Batch, notices []string, err error) {
	r := reader{source: from}
	r.toml = settings.NewReader(&r.file)
	if len(from.Text) > MaxFile {
		r.toml.Reject(from.Name, 0, fmt.Sprintf("has %d bytes; at most %d are allowed", len(from.Text), MaxFile))
		return batchscript.Batch{}, nil, r.err(nil)
	}
	r.toml.Text(from.Name, filepath.Dir(from.Name), from.Text)
	if r.toml.Broken() {
		return batchscript.Batch{}, nil, r.err(nil)
	}
	r.check(options)
	parts := r.parts(options)
	if len(parts) == 0 {
		return batchscript.Batch{}, nil, r.err(nil)
	}
	batch, notices, err = batchscript.Join(r.name(), parts, origin)
	if err == nil {
		r.finish(&batch)
	}
	if err = r.err(err); err != nil {
		return batchscript.Batch{}, notices, err
	}
	return batch, notices, nil
}

// reader reads one file.
type reader struct {
	source Source
	file   file
	toml   *settings.Reader
}

// name is the application's, or else the file's.
func (r *reader) name() string {
	if r.file.Application.Name != "" {
		return r.file.Application.Name
	}
	return strings.TrimSuffix(filepath.Base(r.source.Name), ".toml")
}

// check looks at what batch scripts do not have.
func (r *reader) check(options []batchscript.Setting) {
	switch n := len(r.file.Components); {
	case n == 0:
		r.toml.Problem("component", "is missing; describe each component in a table [[component]] with a name and a script")
	case n > batchscript.MaxComponents:
		r.toml.Problem("component", "there are %d components; at most %d are allowed", n, batchscript.MaxComponents)
	}
	if err := printable(r.file.Application.Name); err != nil {
		r.toml.Problem("application.name", "%v", err)
	}
	for i := range r.file.Components {
		r.checkComponent(&r.file.Components[i], table(i))
	}
	r.checkGroups()
	r.checkRates()
	r.checkMoney(options)
}

func (r *reader) checkComponent(c *component, table string) {
	if err := batchscript.CheckName(c.Name); err != nil {
		r.toml.Problem(table+".name", "%v", err)
	}
	if c.Script == "" {
		r.toml.Problem(table+".script", "is missing; name the batch script that the component runs")
	}
	if _, err := batchscript.ParseCount(string(c.Behavior.CPUs)); err != nil && c.Behavior.CPUs != "" {
		r.toml.Problem(table+".behavior.cpus", "%v", err)
	}
	if c.Behavior.CPUs != "" && c.Behavior.Sent == "" && c.Behavior.Messages == "" {
		r.toml.Problem(table+".behavior.cpus", "says for how many CPUs sent and messages are stated, but neither is there")
	}
}

// checkGroups reports groups of only one component.
func (r *reader) checkGroups() {
	members := map[string]int{}
	for i := range r.file.Components {
		members[r.file.Components[i].Together]++
	}
	for i := range r.file.Components {
		if name := r.file.Components[i].Together; name != "" && members[name] == 1 {
			r.toml.Problem(table(i)+".together",
				"no other component starts together with %q; name it in another component, or leave it out", name)
		}
	}
}

// table is the key of a component.
func table(i int) string { return fmt.Sprintf("component[%d]", i) }

// parts are the components with their scripts.
func (r *reader) parts(options []batchscript.Setting) []batchscript.Part {
	parts := make([]batchscript.Part, 0, len(r.file.Components))
	for i := range r.file.Components {
		c := &r.file.Components[i]
		script, ok := r.script(c, table(i))
		label := "component[" + cmp.Or(c.Name, strconv.Itoa(i+1)) + "]"
		parts = append(parts, batchscript.Part{
			Name: c.Name, Place: r.toml.Places().Find(table(i)), Script: script, Unread: !ok, Together: c.Together != "",
			Settings: append(r.settings(c, table(i), label), options...),
		})
	}
	return parts
}

// script reads a component's script. That it names none is reported already.
func (r *reader) script(c *component, table string) (script batchscript.Script, ok bool) {
	path := c.Script
	if path == "" {
		return script, false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.source.Name), path)
	}
	script, err := r.source.Script(path)
	if err != nil {
		r.toml.Problem(table+".script", "%v", err)
	}
	return script, err == nil
}

// finish adds what batch scripts do not have.
func (r *reader) finish(batch *batchscript.Batch) {
	if len(batch.Jobs) != len(r.file.Components) {
		return // some have problems
	}
	groups := map[string]int{}
	for i := range batch.Jobs {
		c := &r.file.Components[i]
		if c.Together != "" && groups[c.Together] == 0 {
			groups[c.Together] = len(groups) + 1
		}
		batch.Jobs[i].Component.Together = groups[c.Together]
		batch.Jobs[i].Payload.Args = c.Args
	}
	if r.file.Application.WaitingCost == "" && batch.Application.Waiting != "" {
		return // the command line names a curve, and that beats the file's rates
	}
	rates, currency := r.rates()
	batch.Application.Rates = rates
	batch.Application.Currency = cmp.Or(batch.Application.Currency, currency)
}

// err is all that is wrong with the file and the scripts.
func (r *reader) err(scripts error) error {
	var all batchscript.Error
	if found, ok := errors.AsType[problems.List](r.toml.Err()); ok {
		for _, p := range found {
			if !slices.Contains(all.List, p) { // the elements of a list have one key for people
				all.List = append(all.List, p)
			}
		}
	}
	if found, ok := errors.AsType[*batchscript.Error](scripts); ok {
		all.List = append(all.List, found.List...)
	}
	if len(all.List) == 0 {
		return nil
	}
	return &all
}
