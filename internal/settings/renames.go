package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Rename is a key or table of an earlier version and its present name.
type Rename struct {
	Old  string // dotted, without indices: "rounds.phi", "protect"
	New  string // the same, and in brackets for a table: "[guest_limits]", "[[waiting_cost]]"
	Note string // what else changed; empty: nothing
}

// Renames lists the keys and tables of configurations, experiments and application files
// that have had another name. An entry also holds below further tables: "cost.priority" is
// that of [site.cost], too.
func Renames() []Rename {
	renames := []Rename{
		{Old: "protect", New: "[guest_limits]"},
		{Old: "waiting", New: "[[waiting_cost]]"},
		{Old: "weighing", New: "[default_weights]"},
		{Old: "exchange", New: "[exchange_rates]", Note: "; write each currency of worth as a key of its own, as EUR = 0.94"},
		{Old: "localsched.gamma", New: "[localsched.cpu_model]"},
		{Old: "site.gamma", New: "[site.localsched.cpu_model]"},
		{Old: "site.cpu_model", New: "[site.localsched.cpu_model]"},
		{Old: "cost.licence", New: "[[cost.license]]"},
		{Old: "component.behaviour", New: "[component.behavior]"},
		{Old: "component.licences", New: "component.licenses"},
		{Old: "workload.part_nodes", New: "workload.size_unit", Note: `; true is "cpu", now the default, and false is "node"`},
	}
	for _, moved := range []moved{
		{"rounds", "rounds", []string{
			"cycle", "cycle_interval", "max_q", "max_jobs_per_cycle", "phi", "local_wait_threshold", "sigma", "check_interval",
			"delta", "volunteer_below", "volunteer_jobs", "jobs_per_volunteer", "stay_home", "stay_local", "deadline", "quote_timeout",
			"ask", "partners_per_round",
		}},
		{"handoff", "handoff", []string{
			"settle", "submit_recheck_delay", "remember", "tombstone_ttl", "margin", "start_margin", "retry", "retry_initial",
		}},
		{"protect", "guest_limits", []string{"delay", "max_owner_delay", "share", "max_cpu_share"}},
		{"weighing", "default_weights", weights()},
		{"application", "application", weights()},
		{"component", "component", []string{"alpha", "compute_weight", "gamma", "energy_weight", "delta", "data_weight", "priority", "qos"}},
		{"localsched", "localsched", []string{"waits", "wait_prediction", "grace", "kill_grace"}},
		{"localsched.slurm", "localsched.slurm", []string{
			"extra", "sbatch_args", "bin", "bin_dir", "poll", "poll_interval", "jobcomp", "jobcomp_log",
		}},
		{"gossip", "gossip", []string{"every", "announce_interval", "rejoin", "rejoin_interval"}},
		{"power", "power", []string{"bound", "reserve_after", "learn", "learn_job_power"}},
		{"prices", "prices", []string{"span", "horizon", "refresh", "refresh_interval"}},
		{"policy.iss", "policy.iss", []string{"gap", "max_gap", "nodes", "max_search_nodes", "printed", "paper_objective"}},
		{"policy.mcmf", "policy.mcmf", []string{"marginal", "marginal_jobs", "scale", "cost_steps"}},
		{"policy.tc", "policy.tc", []string{"epsilon", "turnaround_tolerance"}},
		{"cost", "cost", []string{"priority", "qos_factors"}},
		{"site.prices", "site.price_file", []string{
			"path", "path", "format", "format", "zone", "zone", "start", "start", "hours", "hours", "currency", "currency", "unit", "unit",
			"slot", "slot", "gaps", "gaps", "max_price", "max_price", "sequence", "sequence", "rename", "rename",
		}},
		{"limits", "limits", []string{"max_jobs", "max_active_jobs"}},
		// Before experiments had the tables of sites' configurations.
		{"peer", "policy", []string{"policy", "name"}},
		{"peer", "policy.tc", []string{"epsilon", "turnaround_tolerance"}},
		{"peer", "policy.mcmf", []string{
			"normalise", "normalise", "weight", "weight", "delay_price", "delay_price", "scale", "cost_steps", "marginal", "marginal_jobs",
		}},
		{"peer", "policy.iss", []string{"gap", "max_gap", "nodes", "max_search_nodes", "printed", "paper_objective"}},
		{"peer", "rounds", []string{
			"phi", "local_wait_threshold", "sigma", "check_interval", "delta", "volunteer_below", "recheck", "recheck_jobs",
			"draw", "jobs_per_volunteer", "stay", "stay_local", "round_jobs", "round_jobs", "cycle", "cycle_interval",
			"max_q", "max_jobs_per_cycle",
		}},
		{"peer", "localsched", []string{"waits", "wait_prediction"}},
		{"peer", "", []string{"partners", "partners", "perturb", "perturb"}},
	} {
		renames = append(renames, moved.renames()...)
	}
	renames = append(renames, siteRenames()...)
	return append(renames, Rename{
		Old: "peer.ask", New: "rounds.partners_per_round", Note: "; instead of 0, for all partners, write how many there are",
	})
}

// moved are keys that have another name, or the same in another table.
type moved struct {
	from, to string
	keys     []string // pairs of an old and a new name
}

func (m moved) renames() (renames []Rename) {
	for pair := range slices.Chunk(m.keys, 2) {
		renames = append(renames, Rename{Old: Join(m.from, pair[0]), New: Join(m.to, pair[1])})
	}
	return renames
}

// siteRenames are the keys of [[site]] of an experiment from before it had only the tables
// of a site's configuration.
func siteRenames() []Rename {
	renames := []Rename{
		{Old: "site.cpus_per_node", New: "site.localsched.cpus", Note: ", the CPUs of all nodes together"},
		{Old: "site.whole_node", New: "site.localsched.machine", Note: "; instead of true write \"whole-node\""},
		{Old: "site.cpu_hour", New: "site.tariff.cpu_hour", Note: ", with its currency"},
		{Old: "site.watts_per_cpu", New: "site.power.watts_per_cpu"},
		{Old: "site.zone", New: "site.prices.time_zone"},
	}
	for _, name := range []string{"nodes", "mhz", "mflops", "machine", "memory", "policy", "max_wall_time"} {
		renames = append(renames, Rename{Old: Join("site", name), New: Join("site.localsched", name)})
	}
	for _, name := range []string{"partitions", "smallest", "mesh"} {
		renames = append(renames, Rename{Old: Join("site", name), New: Join("site.localsched.bgp", name)})
	}
	return renames
}

// weights are the weights of an objective, by their Greek letters, and what waiting costs.
func weights() []string {
	return []string{
		"alpha", "compute_weight", "beta", "wait_weight", "gamma", "energy_weight", "delta", "data_weight", "waiting", "waiting_cost",
	}
}

// Text says where the key, as it was found, is now.
func (r Rename) Text() string {
	table, name := "", r.New
	if i := strings.LastIndex(r.New, "."); i >= 0 && !strings.HasPrefix(r.New, "[") {
		table, name = r.New[:i], r.New[i+1:]
	}
	switch oldTable := parentKey(r.Old); {
	case strings.HasPrefix(r.New, "[") || table == oldTable:
		return fmt.Sprintf("is now %s%s", name, r.Note)
	case table == "":
		return fmt.Sprintf("is now the key %s above all tables%s", name, r.Note)
	}
	return fmt.Sprintf("is now %s in [%s]%s", name, table, r.Note)
}

// renamed finds the entry for a key without indices: the one with the longest name that the
// key ends with, and whose new name is a key of what is read.
func (r *Reader) renamed(key string) (found Rename, ok bool) {
	for _, one := range Renames() {
		ends := strings.Contains(one.Old, ".") && strings.HasSuffix(key, "."+one.Old)
		if !ends && one.Old != key || len(one.Old) <= len(found.Old) {
			continue
		}
		if hasKey(r.root.Type(), strings.TrimSuffix(key, one.Old)+strings.Trim(one.New, "[]")) {
			found, ok = one, true
		}
	}
	return found, ok
}

// hasKey says whether a dotted key without indices is one of a table or of the tables in it.
func hasKey(table reflect.Type, key string) bool {
	for name := range strings.SplitSeq(key, ".") {
		for table.Kind() == reflect.Pointer || table.Kind() == reflect.Slice {
			table = table.Elem()
		}
		if table.Kind() != reflect.Struct {
			return table.Kind() == reflect.Map
		}
		field, ok := fieldOf(table, name)
		if !ok {
			return false
		}
		table = field.Type
	}
	return true
}
