package experiment

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/workload"
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
	site, bgp, slurm := defaultSite(), &config.BGP{}, &config.Slurm{}
	bgp.SetDefaults()
	slurm.SetDefaults()
	eco.SetDefaults()
	plugin.SetDefaults()
	return append([]Table{
		{"", "Basic settings. These keys stand above all tables.", topKeys()},
		{"[[site]]", "A site of the grid; one table for each. Its machine and its charges are in the tables of a site's configuration, with the same keys, units and checks. If one site pays for electricity, all sites must; results then include its cost.", siteKeys()},
		{"[site.localsched]", "Machine and local scheduler of the preceding site. Keys of features that are not simulated have no effect. cpus is required. plugin may name a [[plugin]] of the kind \"localsched\" that can be simulated; its machine is described here, too. If wait_prediction is unset, that of [localsched] applies.", shared("localsched", &site.LocalSched)},
		{"[site.localsched.bgp]", `Partitions of the machine, for machine = "bgp".`, shared("localsched.bgp", bgp)},
		{"[site.localsched.slurm]", `No effect: a site is simulated with plugin = "process".`, shared("localsched.slurm", slurm)},
		{"[site.localsched.cpu_model]", "A CPU of the preceding site in the Γ model (docs/cost-model.md). It determines the run times of components.", shared("localsched.cpu_model", &config.CPUModel{})},
		{"[site.latency]", "Times that the peer and the local scheduler of the preceding site need for their work. The key latencies of [[workload]] overrides submit, start and end for single jobs. Messages between sites have the latency of [network] or [[link]] in addition.", latencyKeys()},
		{"[site.tariff]", "Price of a CPU at the preceding site, for policies that use prices.", shared("tariff", &site.Tariff)},
		{"[site.power]", "Power draw of the machine and power budget of the preceding site: a job that would exceed the budget stays pending. The draw of a job is watts_per_cpu times its factor of [power]. Hours are in the site's time zone, and the budget uses the actual prices. Without a budget, idle CPUs draw nothing.", shared("power", &site.Power)},
		{"[site.power.series]", "Not simulated; an experiment that sets feed is refused.", shared("power.series", &site.Power.Series)},
		{"[site.prices]", `Time zone of the preceding site, and where it buys its electricity; the feed is "file" or "tariff". If time_zone is unset, that of [electricity] applies.`, shared("prices", &site.Prices)},
		{"[site.price_file]", "A file of electricity prices for the preceding site, in a format of docs/prices.md. The prices of a day are known from its midnight on; later ones are forecast.", priceFileKeys()},
		{"[[site.period]]", "A time of the week or the year with its own price, for the preceding site. The first matching period applies; all are known in advance.", periodKeys()},
		{"[site.cost]", "Charges of the preceding site, with the keys of [cost] in a site's configuration. Amounts are in the site's currency, and hours are in its time zone.", shared("cost", &config.Cost{})},
		{"[site.cost.cpu]", "Cost of CPU use at the site.", shared("cost.cpu", &config.CPUCost{})},
		{"[[site.cost.cpu.period]]", "A period with its own price.", shared("cost.cpu.period", &config.CostPeriod{})},
		{"[[site.cost.license]]", "A license that jobs may use at the site.", shared("cost.license", &config.LicenseCost{})},
		{"[site.cost.eco]", "Cost of energy and cooling at the site, by [site.power] watts_per_cpu. With a price here the site needs no other price of electricity.", shared("cost.eco", eco)},
		{"[site.cost.data]", "Cost of data transfers of guests at the site.", shared("cost.data", &config.DataCost{})},
		{"[[workload]]", "Source of the jobs of a site: a trace, a built-in model or a model file. A site may have any number of workloads. A trace or model of a grid contains the jobs of several sites.", workloadKeys()},
		{"[[plugin]]", `A policy or local scheduler of the kind "policy" or "localsched" that runs as a separate program; docs/plugins.md explains how to write one. A plugin that fails ends the simulation, unless [policy] sets a fallback.`, shared("plugin", &plugin)},
		{"[[application]]", `An application that users submit, once or repeatedly, in addition to the workloads; docs/applications.md explains applications. Its file has the format of "switchyard submit". The behavior of each component in the file is its actual behavior. Predictions use the statements of users and the run history.`, applicationKeys()},
		{"[exchange_rates]", "Exchange rates of currencies, if sites have different ones.", shared("exchange_rates", &plan.ExchangeRates)},
		{"[[waiting_cost]]", "The cost of waiting for results: an hourly cost over time in the time zone of [electricity], which applications name.", shared("waiting_cost", &config.WaitingCost{})},
		{"[default_weights]", "Weights of the costs for applications that set none.", shared("default_weights", &plan.DefaultWeights)},
		{"[policy]", "The policy that decides rounds, at all sites. The scheme local has no policy.", shared("policy", &plan.Policy)},
		{"[policy.tc]", "Parameters of the policy tc.", shared("policy.tc", &plan.Policy.TC)},
		{"[policy.mcmf]", "Parameters of the policies mcmf, inst and twoprice.", shared("policy.mcmf", &plan.Policy.MCMF)},
		{"[policy.iss]", "Parameters of the policy iss.", shared("policy.iss", &plan.Policy.ISS)},
		{"[rounds]", "When a round starts, and which sites it asks for quotes, at all sites. The scheme of the experiment sets what opens a round; initiation is another way to set it.", shared("rounds", &plan.Rounds)},
		{"[localsched]", "Settings of the local schedulers of all sites.", shared("localsched", &plan.LocalSched)},
		{"[guest_limits]", "When sites decline guests to protect their local users. Under central and portal all jobs of the grid are guests; the local jobs are those that stay by grid_share.", shared("guest_limits", &plan.GuestLimits)},
		{"[electricity]", "Date of the experiment, and what sites know of prices that are not published yet.", electricityKeys()},
		{"[power]", "Power draw of a job as a factor of its site's, sampled for each job between two bounds.", powerKeys()},
		{"[data]", "Data that are transferred with a job that leaves its site. Its CPUs are allocated and idle until the transfer ends.", dataKeys()},
		{"[[data.link]]", "Data transfer between two sites, in both directions, instead of [data]. Later tables override earlier ones.", append(pairKeys(), dataLinkKeys()...)},
		{"[network]", "Delay and loss of messages between sites. Without this table each message arrives at once.", networkKeys()},
		{"[[link]]", "Delay and loss of messages between two sites, in both directions, instead of [network]. Later tables override earlier ones.", append(pairKeys(), networkKeys()...)},
		{"[[cut]]", "A time in which the link between two sites is down.", cutKeys()},
		{"[[crash]]", "A time in which a site's peer is down. It restarts with its stored state; its local scheduler continues meanwhile.", crashKeys()},
	}, tuneTables()...)
}

// shared describes a table that live sites have, too, with the defaults of a holder.
func shared(table string, defaults any) (keys []Key) {
	of := reflect.ValueOf(defaults).Elem()
	for _, key := range config.TableKeys(table) {
		field, has := settings.Field(of, key.Name)
		if !has && of.Kind() == reflect.Struct { // what holds for one site alone
			continue
		}
		one := Key{Name: key.Name, About: key.About}
		if key.Required {
			one.About += " Required."
		}
		if has && !field.IsZero() {
			one.Default = settings.Format(field)
		}
		keys = append(keys, one)
	}
	return keys
}

func topKeys() []Key {
	return []Key{
		{"name", "", "Name of the experiment. If unset, the name of its file."},
		{"about", "", "Description of the experiment in one sentence."},
		{"scheme", `"sender"`, `How jobs are placed: ` + oneOf(Schemes()) + `. "local": every job stays at its site. "sender", "receiver" and "symmetric": a peer at each site, as in a real grid. "cycle": as sender, but each peer places all jobs of its grid queue once in each cycle. "central": one queue with full information on all sites. "portal": as central, in cycles, like the metascheduler of the MCMF paper. "ideal": one virtual machine and perfectly malleable jobs, a bound that no scheduler can reach.`},
		{"compare", "[]", "Schemes that are run in addition, for comparison."},
		{"seed", "1", "Random seed. Equal seeds give byte-identical output."},
		{"seeds", "10", "Number of seeds of a sweep, starting at seed."},
		{"estimates", `"trace"`, `Run time estimates of jobs. "trace": those of their users, if the trace has them. "perfect": the actual run times.`},
		{"load", "1.0", "Divides all times between submissions: 1.3 is 30 % more work in the same time."},
		{"history", "0", "Number of first jobs that stay at the site where they were submitted and are not measured. They fill the machines and provide data for wait predictions."},
		{"grid_share", "1.0", "Share of the jobs after the history that are submitted to the grid, sampled by the seed. The other jobs stay at the site where they were submitted, and are measured too."},
		{"partners", "0", "Number of partners of each site, sampled by the seed. With 0, all other sites are partners."},
		{"perturb", `"0s"`, "Maximum absolute error added to each quoted wait, sampled uniformly."},
		{"currency", "", `Currency of the sites' prices, such as "EUR". If unset, quotes carry no prices.`},
		{"check", "0", "Number of events between two full checks of the grid's invariants. With 0, they are checked only at the end."},
	}
}

func siteKeys() []Key {
	return []Key{
		{"name", "", "Name of the site: lower case letters, digits and hyphens. Required, except with config."},
		{"config", "", `Configuration of a live site, a file or a directory of files, instead of all other keys except first_check and [site.latency]: the site is simulated as it is configured, as with "switchyard sim run --site". Either all sites have one, or none. The scheme is then "configured" or "local"; [policy] name and [rounds] initiation override those of all configurations.`},
		{"currency", "", "Currency of the site's charges and of its users. If unset, that of the experiment."},
		{"price", "", "Price of a MWh outside the [[site.period]] tables. Not allowed with [site.price_file] or [site.prices] area."},
		{"area", "", "Price area of the site, for a [site.price_file] with several areas."},
		{"first_check", `"0s"`, "Time from the start of the experiment to the first check of utilization by the site's peer; further ones follow after each check_interval of [rounds]. With 0, sampled by the seed."},
	}
}

func latencyKeys() []Key {
	return []Key{
		{"commit", `"0s"`, "Time until the records of a decision are durable. Messages to partners and calls of the local scheduler wait for it."},
		{"call", `"0s"`, "Time of a quote by the local scheduler, or of a decision by the policy."},
		{"submit", `"0s"`, "Time until a job is in the local queue."},
		{"start", `"0s"`, "Time from the decision of the local scheduler to start a job to the start of the job, whose CPUs are allocated."},
		{"end", `"0s"`, "Time from the end of a job until its CPUs are free."},
	}
}

func workloadKeys() []Key {
	return []Key{
		{"site", "", "Name of the site where the jobs are submitted. Required, except for jobs of a grid."},
		{"load", "1.0", "Load factor of this workload; it is multiplied by the key load above all tables."},
		{"trace", "", "File of a trace, plain or compressed with gzip."},
		{"format", "", `Format of the trace: "swf", "gwf" or "sacct" (output of sacct -P). If unset, by the file name's ending: .swf or .gwf, else sacct.`},
		{"split", "", `For a trace of a grid: the field of a record that identifies the site, "partition" or "site" (field 19). Sites are matched by the names in the trace's header, or else by number in the order of this file. Jobs of other sites are omitted, and reported.`},
		{"from", "", `Start of the window of submission times, in the site's time zone, such as "2002-03-01" or "2002-03-01 14:30:00". The experiment starts at it. If unset, the start of the trace.`},
		{"to", "", "End of the window of submission times (exclusive). If unset, the end of the trace."},
		{"skip_queues", "[]", "Numbers of queues whose jobs are omitted; 0 is by convention the interactive queue."},
		{"skip_status", "[]", "Numbers of job states that are omitted: 0 failed, 5 cancelled."},
		{"skip_zero_runs", "false", "Omit jobs with run time 0. Otherwise they run for one second."},
		{"keep_overruns", "false", "Let jobs that ran longer than their time limit run as long as in the trace, with the limit raised to match. Otherwise they are cut to the time limit, as by a local scheduler that enforces limits."},
		{"latencies", "", "CSV file with the latencies of the trace's jobs, wherever they run: the columns job_id, submit, start and end, in seconds, with the meanings of [site.latency]. Jobs that are not in it have those of the site that runs them."},
		{"lenient", "false", "Omit malformed lines, which are counted and reported. Otherwise they are errors."},
		{"model", "", "Built-in model that jobs are sampled from: " + strings.Join(Models(), ", ") + ", the machines of the superscheduler paper; or xsede, the grid of the MCMF paper, for the sites with the names of its systems: " + xsedeNames() + "."},
		{"model_file", "", `File of a model, as "switchyard sim fit --out" writes it.`},
		{"span", `"14d"`, "Time over which the model's jobs are submitted."},
		{"service", "1.0", "Factor of the model's run times."},
		{"bias", "0.0", "Where job sizes lie between the smallest (-1) and the largest (1) of each class of the model; 0 is uniform."},
		{"jobs", "0", "Number of the model's jobs at load 1; the surplus is dropped at random. With 0, all jobs. For xsede, the number of first jobs after the history; with 0, 10,000."},
		{"scale", "false", "Scale the job sizes of the model to this machine. Otherwise only the classes that fit it completely are sampled."},
		{"size_unit", `"cpu"`, `What the model's jobs request: "cpu", any number of CPUs, of which a machine with whole_node allocates whole nodes; or "node", all CPUs of whole nodes.`},
	}
}

func applicationKeys() []Key {
	return []Key{
		{"name", "", "Name of the application. If unset, the name of its file."},
		{"file", "", `File of the application, in the format of "switchyard submit"; its scripts must exist, and each component needs a behavior. Required.`},
		{"site", "", "Name of the site where the application is submitted. Required."},
		{"user", `"user"`, "User who submits the application. The run history of a component is kept by user and name."},
		{"start", `"0s"`, "Time of the first submission, after the start of the experiment."},
		{"count", "1", "Number of submissions."},
		{"every", `"0s"`, "Time between two submissions."},
		{"rate", "0.0", "Mean number of submissions a day at random times, instead of every. With 0, every applies."},
		{"cases", "1", "Number of identical copies of each component."},
		{"noise", "0.0", "Maximum relative error of each run time and each measured number, sampled at random."},
		{"overlap", "0.0", "Overlap of computation and communication, as a share of the shorter of the two; the Γ model has no overlap."},
		{"misstated", "1.0", "Error of the operations, accesses, words and messages that users state: each is multiplied by a factor between 1/misstated and misstated, sampled once. With 1, they are correct."},
		{"unstated", "false", "Whether users state no behavior."},
		{"growth", "0.0", "Relative growth of the components' work from each submission to the next, which users do not state."},
		{"unmeasured", "[]", "Quantities that sites do not measure in its runs: " + oneOf(counters()) + ". The run time is always measured."},
		{"objective", "", "One of " + oneOf(cost.Objectives()) + ". If unset, that of its file, as for all following keys; keys set in neither follow [default_weights]."},
		{"compute_weight", "", "Weight of the cost of CPUs and licenses."},
		{"wait_weight", "", "Weight of the waiting cost."},
		{"energy_weight", "", "Weight of the energy cost."},
		{"data_weight", "", "Weight of the cost of data transfers."},
		{"max_cost", "", `Maximum cost of the application, such as "50 CHF".`},
		{"max_time", "", `Maximum time from submission to the end of the last transfer, such as "12h".`},
		{"waiting_cost", "", "Name of the [[waiting_cost]] that applies."},
	}
}

func electricityKeys() []Key {
	return []Key{
		{"start", `"2026-01-01 00:00"`, "Date and time at the start of the experiment. With a history: at the start of the day, counted from the beginning, on which the last job of the history is submitted."},
		{"zone", `"UTC"`, "Time zone of that date, and of sites without a zone."},
		{"forecast", `"auto"`, `Forecast of prices that are not published yet: "auto", "yesterday", "blend", "mean", "flat", "sarima", or an order such as "(1,0,1)(1,0,1)24". "known": the actual future prices (oracle).`},
	}
}

func powerKeys() []Key {
	return []Key{
		{"low", "1.0", "Lowest factor; 0.6 is 60 % of watts_per_cpu."},
		{"high", "1.0", "Highest factor, such as 1.4."},
	}
}

func dataKeys() []Key {
	return append([]Key{
		{"size", `"0B"`, "Size of the data of each job of the workloads, such as \"1TB\". With 0, nothing is transferred. Components of applications have their own sizes."},
		{"sizes", "", "Sizes of which one is drawn from the seed for each job, all equally likely, instead of size: [\"0\", \"1GB\", \"10TB\"]."},
	}, dataLinkKeys()...)
}

func dataLinkKeys() []Key {
	return []Key{
		{"bandwidth", "", `Transfer rate, such as "125MB/s" or "1Gbit/s". Required if there are data to transfer.`},
		{"latency", `"0s"`, "Time until the first data arrive."},
		{"per_gb", "0.0", "Cost of the transfer of a GB in each direction, for the origin of the job and in its currency."},
		{"per_hour", "0.0", "Cost of each hour of data transfer."},
	}
}

func priceFileKeys() []Key {
	return []Key{
		{"path", "", "The file, plain or compressed with gzip. Required."},
		{"format", "", oneOf(priceformat.Formats()) + ". Required."},
		{"zone", "", "Time zone of the file. If unset, for hourly that of the site."},
		{"start", "", "For hourly: local time of the first price."},
		{"hours", "", `For hourly: "elapsed", one line for each elapsed hour, or "clock", 24 lines a day. If unset, elapsed.`},
		{"area", "", "For hourly and csv: the area. If unset, for hourly the site's name."},
		{"currency", "", "Currency of the prices. If unset, that of the experiment."},
		{"unit", "", `"MWh" confirms that prices below 1 are correct.`},
		{"slot", `"0s"`, "For hourly and csv: how long a price applies. With 0, an hour."},
		{"gaps", "false", "Allow times without a price; they cost the mean."},
		{"max_price", "0.0", "Reject prices above this amount per MWh. With 0, 10000."},
		{"sequence", "0", "For entsoe: which of several auctions is read."},
		{"rename", "", "Other names for areas."},
	}
}

func periodKeys() []Key {
	return []Key{
		{"months", "", `Months, such as "nov-feb". If unset, all.`},
		{"days", "", `Weekdays, such as "mon-fri". If unset, all.`},
		{"hours", "", `Times of the day, such as "06:00-22:00". If unset, all.`},
		{"price", "", "Price of a MWh in the period. Required."},
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
		{"latency", `"0s"`, "Latency of every message."},
		{"jitter", `"0s"`, "Maximum additional latency, sampled uniformly from 0; messages can therefore arrive out of order."},
		{"loss", "0.0", "Probability that a message is lost."},
		{"duplicate", "0.0", "Probability that a message arrives twice."},
	}
}

func pairKeys() []Key {
	return []Key{
		{"a", "", "Name of a site. Required."},
		{"b", "", "Name of the other site. If unset, all other sites."},
	}
}

func cutKeys() []Key {
	return append(pairKeys(), []Key{
		{"from", `"0s"`, "Start of the cut, after the start of the experiment."},
		{"until", "", "End of the cut. Required."},
	}...)
}

func crashKeys() []Key {
	return []Key{
		{"site", "", "Name of the site. Required."},
		{"at", `"0s"`, "Time of the crash, after the start of the experiment."},
		{"for", "", "How long the peer is down. Required."},
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
