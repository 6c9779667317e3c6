package experiment

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// Path is a file that a plan names; relative ones begin at the plan's directory.
type Path = settings.Path

// presets are the built-in experiments.
//
//go:embed presets/*.toml
var presets embed.FS

// Read reads an experiment's file. The error is a [problems.List] with all
// that is wrong with it. The files that it names are read by [Plan.Open].
func Read(file string) (*Plan, error) { return read(file, Default()) }

// ReadPark is [Read] for an experiment of which only the sites and candidates count: it needs neither jobs nor a goal.
func ReadPark(file string) (*Plan, error) {
	plan := Default()
	plan.onlyPark = true
	return read(file, plan)
}

func read(file string, plan Plan) (*Plan, error) {
	r := settings.NewReader(&plan)
	r.File(file)
	return finish(r, &plan, strings.TrimSuffix(path.Base(file), ".toml"))
}

// Presets returns the names of the built-in experiments, sorted.
func Presets() []string {
	files, err := fs.ReadDir(presets, "presets")
	if err != nil {
		return nil // the directory is in the program
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), ".toml"))
	}
	return names
}

// PresetText returns the file of a built-in experiment. The error wraps
// [fs.ErrNotExist] and names those that there are.
func PresetText(name string) (string, error) {
	if !slices.Contains(Presets(), name) {
		return "", fmt.Errorf("no experiment of the name %q is built in, but %s: %w",
			name, strings.Join(Presets(), ", "), fs.ErrNotExist)
	}
	text, err := presets.ReadFile("presets/" + name + ".toml")
	return string(text), err
}

// Preset returns a built-in experiment. Errors are those of [PresetText] and of
// [Read].
func Preset(name string) (*Plan, error) {
	text, err := PresetText(name)
	if err != nil {
		return nil, err
	}
	return parse("built-in "+name+".toml", ".", text)
}

func parse(file, dir, text string) (*Plan, error) {
	plan := Default()
	r := settings.NewReader(&plan)
	r.Text(file, dir, text)
	return finish(r, &plan, strings.TrimSuffix(path.Base(file), ".toml"))
}

// finish checks what was read. An experiment without a name has that of its file.
func finish(r *settings.Reader, plan *Plan, name string) (*Plan, error) {
	if plan.Name == "" {
		plan.Name = name
	}
	if c := (&checker{r}); !r.Broken() && plan.ofConfigurations(c) {
		plan.places = r.Places()
		plan.opened(c)
		plan.checkTables(c)
		plan.GuestLimits.Check(r, "guest_limits")
		plan.FairShare.Check(r, "fairshare")
		plan.check(c)
		plan.checkTuning(c)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	for _, warning := range r.Warnings() {
		plan.fileNotes = append(plan.fileNotes, warning.String())
	}
	return plan, nil
}

// opened takes the scheme from [rounds] initiation, by which a live site says it.
func (p *Plan) opened(c *checker) {
	by := Scheme(p.Rounds.Initiation)
	switch {
	case !c.Set("rounds.initiation") || p.configured():
	case !c.Set("scheme"):
		p.Scheme = by
	case p.Scheme != by:
		c.Problem("rounds.initiation", "%q is not the scheme, %q, which says what opens rounds; leave one of the two out", by, p.Scheme)
	}
}

// modelFile is the file of a model of either kind.
type modelFile struct {
	Machine workload.Machine  `toml:"machine"`
	Classes []workload.Class  `toml:"classes"`
	Profile *workload.Profile `toml:"profile"`
}

// model is the one that the file has.
func (f *modelFile) model() workload.JobModel {
	if f.Profile != nil {
		return &workload.PeriodModel{Machine: f.Machine, Profile: *f.Profile}
	}
	return workload.Model{Machine: f.Machine, Classes: f.Classes}
}

// ReadModel reads a model's file, as [WriteModel] writes it. The error is a
// [problems.List].
func ReadModel(file string) (workload.JobModel, error) {
	var read modelFile
	r := settings.NewReader(&read)
	r.File(file)
	model := read.model()
	switch {
	case r.Broken():
	case read.Profile != nil && len(read.Classes) > 0:
		r.Problem("classes", "a model has either classes or a profile; leave one of the two out")
	default:
		if err := model.Validate(); err != nil {
			key, text, _ := strings.Cut(err.Error(), ": ")
			r.Problem(key, "%s", text)
		}
	}
	return model, r.Err()
}
