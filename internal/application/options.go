package application

import (
	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// option is a key with the option of batch scripts that it stands for.
type option struct {
	key   string
	long  string
	value values
}

func (w *applicationTable) options() []option {
	return []option{
		{"objective", "objective", w.Objective},
		{"compute_weight", "compute-weight", w.ComputeWeight},
		{"wait_weight", "wait-weight", w.WaitWeight},
		{"energy_weight", "energy-weight", w.EnergyWeight},
		{"data_weight", "data-weight", w.DataWeight},
		{"max_cost", "max-cost", w.MaxCost},
		{"max_time", "max-time", w.MaxTime},
		{"waiting_cost", "waiting-cost", w.WaitingCost},
		{"start_tolerance", "start-tolerance", w.Tolerance},
		{"start_missed", "start-missed", w.Missed},
	}
}

func (c *component) options() []option {
	b := &c.Behavior
	return []option{
		{"cpus", "cpus", c.CPUs},
		{"nodes", "nodes", c.Nodes},
		{"memory", "mem", c.Memory},
		{"time", "time", c.Time},
		{"time_min", "time-min", c.TimeMin},
		{"estimate", "estimate", c.Estimate},
		{"licenses", "licenses", c.Licenses},
		{"resources", "gres", c.Resources},
		{"features", "constraint", c.Features},
		{"stage_in", "stage-in", c.StageIn},
		{"stage_out", "stage-out", c.StageOut},
		{"data_in", "stage-in-size", c.DataIn},
		{"data_out", "stage-out-size", c.DataOut},
		{"sites", "sites", c.Sites},
		{"account", "account", c.Account},
		{"partition", "partition", c.Partition},
		{"qos", "qos", c.QOS},
		{"compute_weight", "compute-weight", c.ComputeWeight},
		{"energy_weight", "energy-weight", c.EnergyWeight},
		{"data_weight", "data-weight", c.DataWeight},
		{"behavior.operations", "operations", b.Operations},
		{"behavior.accesses", "memory-accesses", b.Accesses},
		{"behavior.sent", "words-sent", b.Sent},
		{"behavior.messages", "messages-sent", b.Messages},
		b.scaling(),
	}
}

// scaling is the option that names the count of CPUs, too, but for one that cannot be read,
// which is reported where it stands.
func (b *behavior) scaling() option {
	_, err := batchscript.ParseCount(string(b.CPUs))
	switch {
	case err != nil:
		return option{"behavior.scaling", "scaling", b.Scaling}
	case b.Scaling == "":
		return option{"behavior.cpus", "scaling", "constant@" + b.CPUs}
	}
	return option{"behavior.scaling", "scaling", b.Scaling + "@" + b.CPUs}
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

// place is that of a key, of which people know the label.
func (r *reader) place(key, label string) problems.Place {
	at := r.toml.Places().Find(key)
	at.Key = label
	return at
}
