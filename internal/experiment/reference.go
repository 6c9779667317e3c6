package experiment

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
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
	eco, plan := &config.EcoCost{}, Default()
	plugin := Plugin{}
	live, bgp, slurm := config.Default(), &config.BGP{}, &config.Slurm{}
	bgp.SetDefaults()
	slurm.SetDefaults()
	eco.SetDefaults()
	plugin.SetDefaults()
	return append([]Table{
		{"", "What is run. These keys stand above all tables.", topKeys()},
		{"[[site]]", "A machine and its batch system, one table for each site of the grid. Where one site pays for electricity, all must: outcomes then have its cost.", siteKeys()},
		{"[site.localsched]", "The machine and the local scheduler of the site above it, as in its configuration, instead of the keys nodes to policy above. Keys of what is not simulated have no effect. cpus is required here.", shared("localsched", new(live.LocalSched))},
		{"[site.localsched.bgp]", "How the machine is cut into partitions, for machine = \"bgp\".", shared("localsched.bgp", bgp)},
		{"[site.localsched.slurm]", "Has no effect: a site is simulated with plugin = \"process\".", shared("localsched.slurm", slurm)},
		{"[site.localsched.cpu_model]", "As [site.cpu_model].", shared("localsched.cpu_model", &config.CPUModel{})},
		{"[site.tariff]", "What a CPU costs there, as in its configuration, instead of cpu_hour above.", shared("tariff", &config.Tariff{})},
		{"[site.power]", "What the machine draws, and what the site's jobs may draw together, as in its configuration: a job that would draw more waits. Jobs are counted by watts_per_cpu, each with its factor of [power]. Hours go by the site's zone, and its prices count as they will be.", shared("power", new(live.Power))},
		{"[site.power.series]", "Not simulated, and refused with a feed.", shared("power.series", &config.PowerSeries{})},
		{"[site.prices]", "Where the site buys its electricity, as in its configuration; the feed is \"file\" or \"tariff\".", shared("prices", new(live.Prices))},
		{"[site.price_file]", "A file of electricity prices, in a format of docs/prices.md, for the site above it. A day's prices are known from its midnight on, later ones are forecast.", priceFileKeys()},
		{"[[site.period]]", "A time of the week or the year with a price of its own, for the site above it. The first that holds counts; all are known ahead.", periodKeys()},
		{"[site.cpu_model]", "A CPU of the site above it, as the Γ model sees it (docs/cost-model.md). Components of applications run by it.", shared("localsched.cpu_model", &config.CPUModel{})},
		{"[site.cost]", "What the site above it charges, by the keys of a live site's [cost]. All money is in the site's currency, and hours go by its zone.", shared("cost", &config.Cost{})},
		{"[site.cost.cpu]", "What the use of CPUs costs there.", shared("cost.cpu", &config.CPUCost{})},
		{"[[site.cost.cpu.period]]", "A time with a price of its own.", shared("cost.cpu.period", &config.CostPeriod{})},
		{"[[site.cost.license]]", "A licence that jobs may use there.", shared("cost.license", &config.LicenseCost{})},
		{"[site.cost.eco]", "What energy and cooling cost there, by watts_per_cpu. With a price here the site needs no other price of electricity.", shared("cost.eco", eco)},
		{"[site.cost.data]", "What the traffic of guests' jobs costs there.", shared("cost.data", &config.DataCost{})},
		{"[[workload]]", "Where jobs of a site come from: a trace, a built-in model or a model of your own. A site may have none, one or several. A trace or model of a grid has the jobs of several sites.", workloadKeys()},
		{"[[plugin]]", "A policy or a batch system, of the kind \"policy\" or \"localsched\", that is a program of its own; docs/plugins.md says how to write one. One that fails ends the simulation, unless [policy] names a fallback.", shared("plugin", &plugin)},
		{"[[application]]", "An application that users submit, once or again and again, beside the workloads; docs/applications.md says what it is. Its file is that which \"switchyard submit\" takes. What the file says of the behaviour of each component is what that really does, and what is foreseen by what users state and by earlier runs.", applicationKeys()},
		{"[exchange]", "What currencies are worth, where sites have several.", shared("exchange", &config.Exchange{})},
		{"[[waiting_cost]]", "What it costs to wait for results: a curve by the clock of [electricity], which applications name.", shared("waiting_cost", &config.WaitingCost{})},
		{"[default_weights]", "How costs are weighed for applications that do not say.", shared("default_weights", &plan.DefaultWeights)},
		{"[policy]", "The policy that decides rounds, at all sites. The scheme local has none.", shared("policy", &plan.Policy)},
		{"[policy.tc]", "Parameters of the policy tc.", shared("policy.tc", &plan.Policy.TC)},
		{"[policy.mcmf]", "Parameters of the policies mcmf, inst and twoprice.", shared("policy.mcmf", &plan.Policy.MCMF)},
		{"[policy.iss]", "Parameters of the policy iss.", shared("policy.iss", &plan.Policy.ISS)},
		{"[rounds]", "When sites are asked for quotes, and which, at all sites. What opens rounds is the experiment's scheme: initiation is another way to say it.", shared("rounds", &plan.Rounds)},
		{"[localsched]", "What holds for the batch systems of all sites.", shared("localsched", &plan.LocalSched)},
		{"[guest_limits]", "When sites decline guests for the sake of their own users. Under central and portal all jobs of the grid are guests, and own ones those that stay by grid_share.", shared("guest_limits", &plan.GuestLimits)},
		{"[electricity]", "When the experiment takes place, and what sites know of prices that are not published yet.", electricityKeys()},
		{"[power]", "How much of a site's power a job draws: a factor for each job, drawn between two bounds.", powerKeys()},
		{"[data]", "What travels with a job that leaves its site. Its CPUs stand held until it is there.", dataKeys()},
		{"[[data.link]]", "The way of data between two sites instead, in both directions. Later tables take the place of earlier ones.", append(pairKeys(), dataLinkKeys()...)},
		{"[network]", "What happens to the messages between sites. Without this table each arrives at once.", networkKeys()},
		{"[[link]]", "What happens on the link of two sites instead, in both directions. Later tables take the place of earlier ones.", append(pairKeys(), networkKeys()...)},
		{"[[cut]]", "A time in which two sites do not hear each other.", cutKeys()},
		{"[[crash]]", "A time in which a site's peer is down. It comes back with what it had stored; its batch system goes on.", crashKeys()},
	}, tuneTables()...)
}

// shared describes a table that live sites have, too, with the defaults of a holder.
func shared(table string, defaults any) (keys []Key) {
	of := reflect.ValueOf(defaults).Elem()
	for _, key := range config.TableKeys(table) {
		field, has := settings.Field(of, key.Name)
		if !has { // what holds for one site alone
			continue
		}
		one := Key{Name: key.Name, About: key.About}
		if key.Required {
			one.About += " Required."
		}
		if !field.IsZero() {
			one.Default = settings.Format(field)
		}
		keys = append(keys, one)
	}
	return keys
}

func topKeys() []Key {
	return []Key{
		{"name", "", "What the experiment is called. Not set: as its file."},
		{"about", "", "What it is, in a sentence."},
		{"scheme", `"sender"`, `How jobs are placed: ` + oneOf(Schemes()) + `. "local": every job stays at its site. "sender", "receiver" and "symmetric": a peer at each site, as in a real grid. "cycle": the same, but each decides about all jobs that wait there once in a period. "central": one queue that sees everything. "portal": the same in cycles, as the metascheduler of the MCMF paper. "ideal": one virtual machine and perfectly malleable jobs, a bound that nothing can reach.`},
		{"compare", "[]", "Schemes that are run beside it, for comparison."},
		{"seed", "1", "Of all that is drawn by chance. The same seed gives the same jobs and the same outcome, to the byte."},
		{"seeds", "10", "How many seeds a sweep runs, from seed on."},
		{"estimates", `"trace"`, `What jobs are believed to take. "trace": what their users asked for, as far as the trace tells. "perfect": what they take.`},
		{"load", "1.0", "Divides all times between submissions: 1.3 is 30 % more work in the same time."},
		{"history", "0", "So many of the first jobs stay where they were submitted and are not measured: they fill the machines, and teach those who foresee waits."},
		{"grid_share", "1.0", "Part of the jobs after the history that goes through the grid, drawn by the seed. The others stay where they were submitted, and are measured too."},
		{"partners", "0", "How many partners each site has, drawn by the seed. 0: all others."},
		{"perturb", `"0s"`, "Bound of an error that is drawn for every wait that a site tells, in either direction."},
		{"currency", "", "Of the sites' prices, as \"EUR\". Not set: quotes carry no prices."},
		{"check", "0", "Events between two full checks of the grid's invariants. 0: they are checked at the end only."},
	}
}

func siteKeys() []Key {
	return []Key{
		{"name", "", "The site's name: lower case letters, digits and hyphens. Required."},
		{"nodes", "", "How many nodes it has. Required, but for machine = \"bgp\", whose partitions tell it."},
		{"cpus_per_node", "1", "CPUs of a node."},
		{"mhz", "1000", "Speed of a CPU. Run times of jobs that move scale with the ratio of speeds; if all are equal it does not matter."},
		{"whole_node", "false", "Whether a node runs one job at a time."},
		{"machine", "", "\"bgp\": a job runs in a partition, as on Blue Gene/P. Not set: jobs share nodes, or get whole ones by whole_node."},
		{"partitions", "", "How that machine is cut. \"intrepid\": the 1467 partitions of the Blue Gene/P of Argonne. \"racks 2x8\": those of 2 rows of 8 racks, made in its manner. Otherwise the path of a file of partitions, packed by gzip or not."},
		{"smallest", "512", "Nodes of the smallest partition that jobs get."},
		{"mesh", "true", "Whether jobs also get partitions whose loops are not closed."},
		{"policy", `"easy"`, "Which queued jobs start first: " + strings.Join(engine.Names(), ", ") + ". Or the name of a [[plugin]] of the kind \"localsched\" that can be simulated."},
		{"cpu_hour", "0.0", "What a CPU costs for an hour, for policies that go by prices."},
		{"mflops", "0", "Mflop/s of a CPU. Where two machines state it, run times scale with these and not with the MHz. 0: not stated."},
		{"max_wall_time", `"0s"`, "What a job may ask for at most. 0: no limit."},
		{"watts_per_cpu", "0.0", "What a CPU draws that works; others draw nothing."},
		{"price", "", "What a MWh costs when no [[site.period]] holds. Sites with [site.price_file] or [site.prices] have none."},
		{"zone", "", "Time zone of the site, when its days begin and its periods hold, as \"Europe/Oslo\". Not set: that of [electricity]."},
		{"area", "", "Which area's prices hold, of a file that has several."},
		{"memory", "", "Memory of a node, as \"4GB\". Not set: not looked at."},
		{"currency", "", "Of what the site charges and of what its users reckon in. Not set: that of the experiment."},
	}
}

func workloadKeys() []Key {
	return []Key{
		{"site", "", "Name of the site where the jobs are submitted. Required, but for jobs of a grid."},
		{"load", "1.0", "As the key above the tables, for this workload alone; both together multiply."},
		{"trace", "", "File with a trace, packed by gzip or not."},
		{"format", "", `Of the trace: "swf", "gwf" or "sacct" (what sacct -P prints). Not set: by the file's ending, .swf or .gwf, else sacct.`},
		{"split", "", `For a trace of a grid: which field of a record names the site, "partition" or "site", the 19th. Sites have their names in the trace's header, or else their numbers in the order of this file. Jobs of others are left out, and told.`},
		{"from", "", `First submission that counts, on the site's clock, as "2002-03-01" or "2002-03-01 14:30:00". The experiment begins then. Not set: from the trace's beginning.`},
		{"to", "", "First submission that counts no more. Not set: to the trace's end."},
		{"skip_queues", "[]", "Queues whose jobs are left out, by number; 0 is by convention the interactive one."},
		{"skip_status", "[]", "Job states that are left out, by number: 0 failed, 5 cancelled."},
		{"skip_zero_runs", "false", "Leave out jobs with run time 0. Else they run for a second."},
		{"keep_overruns", "false", "Have jobs run as long as they did where that was longer than they asked for, with estimates as long. Else they are cut to what they asked for, as a batch system does that keeps its limits."},
		{"lenient", "false", "Leave out malformed lines, which are counted and told. Else they are an error."},
		{"model", "", "Built-in model that jobs are drawn from: " + strings.Join(Models(), ", ") + ", the machines of the superscheduler paper; or xsede, the grid of the MCMF paper, for the sites with the names of its systems: " + xsedeNames() + "."},
		{"model_file", "", `File with a model, as "switchyard sim fit --out" writes it.`},
		{"span", `"14d"`, "How long jobs of the model are submitted."},
		{"service", "1.0", "Multiplies the model's run times."},
		{"bias", "0.0", "Where sizes lie between the smallest (-1) and the largest (1) of each class of the model; 0 is uniform."},
		{"jobs", "0", "How many of the model's jobs are wanted at load 1, by dropping some at random. 0: all. Of xsede the first after the history; 0: 10,000."},
		{"scale", "false", "Scale the model's sizes to this machine. Else the classes that fit it whole are drawn, and the others left out."},
		{"part_nodes", "false", "Let the model's jobs ask for any number of CPUs. Else they ask for whole nodes."},
	}
}

func applicationKeys() []Key {
	return []Key{
		{"name", "", "What people call it. Not set: as its file."},
		{"file", "", "File of the application, as \"switchyard submit\" takes it; its scripts must be there, and each component needs a behaviour. Required."},
		{"site", "", "Name of the site where it is submitted. Required."},
		{"user", `"user"`, "Who submits it. What is learnt of a component is kept by user and name."},
		{"start", `"0s"`, "When the first is submitted, after the experiment's beginning."},
		{"count", "1", "How often it is submitted."},
		{"every", `"0s"`, "How long after one the next is submitted."},
		{"rate", "0.0", "How many are submitted a day, by chance, instead of every so long. 0: by every."},
		{"cases", "1", "How many there are of each of its components, all alike."},
		{"noise", "0.0", "Bound of the error that is drawn for each run time and each number that is measured, as a share of it."},
		{"overlap", "0.0", "Share of the shorter of computing and communicating that is hidden behind the longer; the Γ model knows of none."},
		{"misstated", "1.0", "How wrong users state operations, accesses, words and messages: each is multiplied by a factor between 1/misstated and misstated, drawn once. 1: they are right."},
		{"unstated", "false", "Whether users state nothing of the behaviour."},
		{"growth", "0.0", "By which part the components do more from each submission to the next, which users do not state."},
		{"unmeasured", "[]", "What sites do not measure of its runs: " + oneOf(counters()) + ". The run time always is."},
		{"objective", "", "Of " + oneOf(cost.Objectives()) + ". Not set: as its file says, like all that follows; what says nothing goes by [default_weights]."},
		{"compute_weight", "", "Weight of what CPUs and licences cost."},
		{"wait_weight", "", "Weight of what waiting costs."},
		{"energy_weight", "", "Weight of what energy costs."},
		{"data_weight", "", "Weight of what traffic costs."},
		{"max_cost", "", "The most that it may cost, as \"50 CHF\"."},
		{"max_time", "", "The most that it may take, from its submission to its last data, as \"12h\"."},
		{"waiting_cost", "", "Name of the [[waiting_cost]] that counts."},
	}
}

func electricityKeys() []Key {
	return []Key{
		{"start", `"2026-01-01 00:00"`, "What the clock shows at the experiment's beginning. With a history: at the start of the day, counted from the beginning, on which its last job is submitted."},
		{"zone", `"UTC"`, "Time zone of that clock, and of sites that name none."},
		{"forecast", `"auto"`, "Of prices that are not published yet: \"auto\", \"yesterday\", \"blend\", \"mean\", \"flat\", \"sarima\", or an order such as \"(1,0,1)(1,0,1)24\". \"known\": what will come, as an oracle knows it."},
	}
}

func powerKeys() []Key {
	return []Key{
		{"low", "1.0", "The least, as 0.6 for 60 % of watts_per_cpu."},
		{"high", "1.0", "The most, as 1.4."},
	}
}

func dataKeys() []Key {
	return append([]Key{{"size", `"0B"`, "Of the data of each job of the workloads, as \"1TB\". 0: nothing travels. Components of applications have their own."}}, dataLinkKeys()...)
}

func dataLinkKeys() []Key {
	return []Key{
		{"bandwidth", "", "How fast they travel, as \"125MB/s\" or \"1Gbit/s\". Required where there are data."},
		{"latency", `"0s"`, "Before they begin to arrive."},
		{"per_gb", "0.0", "What the way costs the site where the job comes from, for each GB either way, in its currency."},
		{"per_hour", "0.0", "What it costs for each hour in which data travel."},
	}
}

func priceFileKeys() []Key {
	return []Key{
		{"path", "", "The file, packed by gzip or not. Required."},
		{"format", "", oneOf(priceformat.Formats()) + ". Required."},
		{"zone", "", "Of the file's clock. Not set: for hourly that of the site."},
		{"start", "", "For hourly: what the clock showed at the beginning of the first price."},
		{"hours", "", "For hourly: \"elapsed\", a line for each hour that passes, or \"clock\", 24 lines a day. Not set: elapsed."},
		{"area", "", "For hourly and csv: the area. Not set: for hourly the site's name."},
		{"currency", "", "Not set: that of the experiment."},
		{"unit", "", "\"MWh\" says that prices below 1 are right."},
		{"slot", `"0s"`, "For hourly and csv: how long a price holds. 0: an hour."},
		{"gaps", "false", "Whether times without a price are in order; they cost the mean."},
		{"max_price", "0.0", "The largest price that is believed. 0: 10000."},
		{"sequence", "0", "For entsoe: which of several auctions is read."},
		{"rename", "", "Other names for areas."},
	}
}

func periodKeys() []Key {
	return []Key{
		{"months", "", "As \"nov-feb\". Not set: all."},
		{"days", "", "As \"mon-fri\". Not set: all."},
		{"hours", "", "As \"06:00-22:00\". Not set: all."},
		{"price", "", "What a MWh costs then. Required."},
	}
}

// xsedeNames lists the sites that the model of the grid has jobs for.
func xsedeNames() string {
	var names []string
	for _, system := range workload.XSEDESystems() {
		names = append(names, strings.ToLower(system.Name))
	}
	return strings.Join(names, ", ")
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
