package experiment

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
)

// Table describes a table of an experiment's file.
type Table struct {
	Name  string // as in the file: "", "[peer]", "[[site]]"
	About string
	Keys  []Key
}

// Key describes a key of a [Table].
type Key struct {
	Name    string
	Default string // in TOML; empty: none
	About   string
}

// Reference describes every key of an experiment's file.
func Reference() []Table {
	return []Table{
		{"", "What is run. These keys stand above all tables.", topKeys()},
		{"[[site]]", "A machine and its batch system, one table for each site of the grid.", siteKeys()},
		{"[[workload]]", "Where jobs of a site come from: a trace, a built-in model or a model of your own. A site may have none, one or several.", workloadKeys()},
		{"[[plugin]]", "A policy or a batch system that is a program of its own; docs/plugins.md says how to write one.", pluginKeys()},
		{"[peer]", "What every site's peer is told. The defaults are those of live peers.", peerKeys()},
		{"[network]", "What happens to the messages between sites. Without this table each arrives at once.", networkKeys()},
		{"[[link]]", "What happens on the link of two sites instead, in both directions. Later tables take the place of earlier ones.", append(pairKeys(), networkKeys()...)},
		{"[[cut]]", "A time in which two sites do not hear each other.", cutKeys()},
		{"[[crash]]", "A time in which a site's peer is down. It comes back with what it had stored; its batch system goes on.", crashKeys()},
	}
}

func topKeys() []Key {
	return []Key{
		{"name", "", "What the experiment is called. Not set: as its file."},
		{"about", "", "What it is, in a sentence."},
		{"scheme", `"sender"`, `How jobs are placed: ` + oneOf(Schemes()) + `. "local": every job stays at its site. "sender", "receiver" and "symmetric": a peer at each site, as in a real grid. "central": one queue that sees everything. "ideal": one virtual machine and perfectly malleable jobs, a bound that nothing can reach.`},
		{"compare", "[]", "Schemes that are run beside it, for comparison."},
		{"seed", "1", "Of all that is drawn by chance. The same seed gives the same jobs and the same outcome, to the byte."},
		{"seeds", "10", "How many seeds a sweep runs, from seed on."},
		{"estimates", `"trace"`, `What jobs are believed to take. "trace": what their users asked for, as far as the trace tells. "perfect": what they take.`},
		{"load", "1.0", "Divides all times between submissions: 1.3 is 30 % more work in the same time."},
		{"currency", "", "Of the sites' prices, as \"EUR\". Not set: quotes carry no prices."},
		{"check", "0", "Events between two full checks of the grid's invariants. 0: they are checked at the end only."},
	}
}

func siteKeys() []Key {
	return []Key{
		{"name", "", "The site's name: lower case letters, digits and hyphens. Required."},
		{"nodes", "", "How many nodes it has. Required."},
		{"cpus_per_node", "1", "CPUs of a node."},
		{"mhz", "1000", "Speed of a CPU. Run times of jobs that move scale with the ratio of speeds; if all are equal it does not matter."},
		{"whole_node", "false", "Whether a node runs one job at a time."},
		{"policy", `"easy"`, "Which queued jobs start first: " + strings.Join(engine.Names(), ", ") + ". Or the name of a [[plugin]] of the kind \"localsched\" that can be simulated."},
		{"cpu_hour", "0.0", "What a CPU costs for an hour, for policies that go by prices."},
	}
}

func workloadKeys() []Key {
	return []Key{
		{"site", "", "Name of the site where the jobs are submitted. Required."},
		{"load", "1.0", "As the key above the tables, for this workload alone; both together multiply."},
		{"trace", "", "File with a trace, packed by gzip or not."},
		{"format", "", `Of the trace: "swf", "gwf" or "sacct" (what sacct -P prints). Not set: by the file's ending, .swf or .gwf, else sacct.`},
		{"from", "", `First submission that counts, on the site's clock, as "2002-03-01" or "2002-03-01 14:30:00". The experiment begins then. Not set: from the trace's beginning.`},
		{"to", "", "First submission that counts no more. Not set: to the trace's end."},
		{"skip_queues", "[]", "Queues whose jobs are left out, by number; 0 is by convention the interactive one."},
		{"skip_status", "[]", "Job states that are left out, by number: 0 failed, 5 cancelled."},
		{"skip_zero_runs", "false", "Leave out jobs with run time 0. Else they run for a second."},
		{"lenient", "false", "Leave out malformed lines, which are counted and told. Else they are an error."},
		{"model", "", "Built-in model that jobs are drawn from: " + strings.Join(Models(), ", ") + ", the machines of the superscheduler paper."},
		{"model_file", "", `File with a model, as "switchyard sim fit --out" writes it.`},
		{"span", `"14d"`, "How long jobs of the model are submitted."},
		{"service", "1.0", "Multiplies the model's run times."},
		{"bias", "0.0", "Where sizes lie between the smallest (-1) and the largest (1) of each class of the model; 0 is uniform."},
		{"jobs", "0", "How many of the model's jobs are wanted at load 1, by dropping some at random. 0: all."},
		{"scale", "false", "Scale the model's sizes to this machine. Else the classes that fit it whole are drawn, and the others left out."},
		{"part_nodes", "false", "Let the model's jobs ask for any number of CPUs. Else they ask for whole nodes."},
	}
}

func pluginKeys() []Key {
	return []Key{
		{"name", "", "By which other keys name the plugin. Required."},
		{"kind", "", `"policy" or "localsched". Required.`},
		{"path", "", "Its executable file. Required."},
		{"args", "[]", "Its arguments."},
		{"sha256", "", "SHA-256 of the file; another file is not started. Not set: any file is."},
		{"mtls", "true", "Whether the plugin is spoken to over TLS. false is for plugins whose language cannot; they are pinned."},
		{"config", "", "File with the plugin's own configuration. Not set: it gets none."},
		{"call_timeout", `"30s"`, "How long the plugin may take for one call. One that fails ends the simulation."},
	}
}

func peerKeys() []Key {
	return []Key{
		{"policy", `"tc"`, "The policy that decides rounds: \"tc\", or the name of a [[plugin]] of the kind \"policy\". The scheme local has none."},
		{"phi", `"1m"`, "φ: a job that would wait less than this at its own site stays there, and nobody is asked."},
		{"sigma", `"5m"`, "σ: time between two looks at the own utilisation, and at what waiting jobs would wait at home."},
		{"delta", "0.7", "δ: a site whose utilisation is below this volunteers, under receiver and symmetric."},
		{"epsilon", `"30s"`, "ε: among sites whose turnaround is within this of the least, the least busy one gets the job."},
		{"recheck", "0", "How many waiting jobs look at their own site's wait again every σ. 0: all."},
		{"draw", "0", "How many jobs one volunteer may bring into rounds. 0: any number."},
		{"stay", "false", "Under symmetric, a job whose volunteers are all worse stays at home. Else it asks everybody."},
		{"round_jobs", "64", "How many jobs may share a round; the superscheduler paper has 1."},
		{"ask", "0", "How many partners are asked in a round, the best by gossip. 0: all."},
		{"partners", "0", "How many partners each site has, drawn by the seed. 0: all others."},
	}
}

func networkKeys() []Key {
	return []Key{
		{"latency", `"0s"`, "Of every message."},
		{"jitter", `"0s"`, "Added to it, drawn between 0 and this; so messages overtake each other."},
		{"loss", "0.0", "Probability that a message is lost."},
		{"duplicate", "0.0", "Probability that a message comes twice."},
	}
}

func pairKeys() []Key {
	return []Key{
		{"a", "", "Name of a site. Required."},
		{"b", "", "Name of the other site. Not set: all others."},
	}
}

func cutKeys() []Key {
	return append(pairKeys(), []Key{
		{"from", `"0s"`, "When it begins, after the experiment's beginning."},
		{"until", "", "When it ends. Required."},
	}...)
}

func crashKeys() []Key {
	return []Key{
		{"site", "", "Name of the site. Required."},
		{"at", `"0s"`, "When it goes down, after the experiment's beginning."},
		{"for", "", "How long it is down. Required."},
	}
}

// ReferenceText is [Reference] in Markdown, as docs/simulator.md has it.
func ReferenceText() string {
	var b strings.Builder
	for _, table := range Reference() {
		title := "Above all tables"
		if table.Name != "" {
			title = "`" + table.Name + "`"
		}
		fmt.Fprintf(&b, "### %s\n\n%s\n\n| key | default | meaning |\n|---|---|---|\n", title, table.About)
		for _, key := range table.Keys {
			value := "none"
			if key.Default != "" {
				value = "`" + key.Default + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key.Name, value, key.About)
		}
		b.WriteString("\n")
	}
	return b.String()
}
