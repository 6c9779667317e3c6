package application

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// option is a key with the option of batch scripts that it stands for.
type option struct {
	key   string
	long  string
	value values
}

func (w *wishes) options() []option {
	return []option{
		{"objective", "objective", w.Objective},
		{"alpha", "compute-weight", w.Alpha},
		{"beta", "wait-weight", w.Beta},
		{"gamma", "energy-weight", w.Gamma},
		{"delta", "data-weight", w.Delta},
		{"max_cost", "max-cost", w.MaxCost},
		{"max_time", "max-time", w.MaxTime},
		{"waiting", "waiting-cost", w.Waiting},
		{"start_tolerance", "start-tolerance", w.Tolerance},
		{"start_missed", "start-missed", w.Missed},
	}
}

func (c *component) options() []option {
	b := &c.Behaviour
	return []option{
		{"cpus", "cpus", c.CPUs},
		{"nodes", "nodes", c.Nodes},
		{"memory", "mem", c.Memory},
		{"time", "time", c.Time},
		{"estimate", "estimate", c.Estimate},
		{"licences", "licenses", c.Licences},
		{"data_in", "stage-in-size", c.DataIn},
		{"data_out", "stage-out-size", c.DataOut},
		{"sites", "sites", c.Sites},
		{"priority", "qos", c.Priority},
		{"alpha", "compute-weight", c.Alpha},
		{"gamma", "energy-weight", c.Gamma},
		{"delta", "data-weight", c.Delta},
		{"behaviour.operations", "operations", b.Operations},
		{"behaviour.accesses", "memory-accesses", b.Accesses},
		{"behaviour.sent", "words-sent", b.Sent},
		{"behaviour.messages", "messages-sent", b.Messages},
		b.scaling(),
	}
}

// scaling is the option that names the count of CPUs, too, but for one that cannot be read,
// which is reported where it stands.
func (b *behaviour) scaling() option {
	_, err := batchscript.ParseCount(string(b.CPUs))
	switch {
	case err != nil:
		return option{"behaviour.scaling", "scaling", b.Scaling}
	case b.Scaling == "":
		return option{"behaviour.cpus", "scaling", "constant@" + b.CPUs}
	}
	return option{"behaviour.scaling", "scaling", b.Scaling + "@" + b.CPUs}
}

// settings are what the file says of a component.
func (r *reader) settings(c *component, table, label string) []batchscript.Setting {
	list := r.settingsOf(r.file.Application.options(), "application", "application")
	list = append(list, r.settingsOf(c.options(), table, label)...)
	if c.Requeue == nil {
		return list
	}
	long := "no-requeue"
	if *c.Requeue {
		long = "requeue"
	}
	return append(list, batchscript.Setting{Long: long, Place: r.place(table+".requeue", label+".requeue")})
}

// settingsOf are the options that are set, with where they are.
func (r *reader) settingsOf(options []option, table, label string) (list []batchscript.Setting) {
	for _, o := range options {
		if o.value != "" {
			place := r.place(settings.Join(table, o.key), settings.Join(label, o.key))
			list = append(list, batchscript.Setting{Long: o.long, Value: string(o.value), Place: place})
		}
	}
	return list
}

// place is "file:line: key" for a key, of which people know the label.
func (r *reader) place(key, label string) string {
	return fmt.Sprintf("%s: %s", r.toml.Places().Find(key), label)
}
