package experiment

import (
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
)

// Reference describes every key of an experiment's file.
func Reference() []settings.Table {
	eco, plan := &config.EcoCost{}, Default()
	plugin := Plugin{}
	site, bgp, slurm := defaultSite(), &config.BGP{}, &config.Slurm{}
	bgp.SetDefaults()
	slurm.SetDefaults()
	eco.SetDefaults()
	plugin.SetDefaults()
	return append([]settings.Table{
		{Name: "", About: "Basic settings. These keys stand above all tables.", Keys: topKeys()},
		{Name: "[[site]]", About: "A site of the grid; one table for each. Its machine and its charges are in the tables of a site's configuration, with the same keys, units and checks. If one site pays for electricity, all sites must; results then include its cost.", Keys: siteKeys()},
		{Name: "[site.localsched]", About: "Machine and local scheduler of the preceding site. Keys of features that are not simulated have no effect. cpus is required. plugin may name a [[plugin]] of the kind \"localsched\" that can be simulated; its machine is described here, too. If wait_prediction is unset, that of [localsched] applies.", Keys: config.TableKeys("localsched", &site.LocalSched)},
		{Name: "[site.localsched.devices]", About: "Devices of each node of the preceding site, such as GPUs; one table [site.localsched.devices.NAME] for each kind. Jobs get some by the column resources of requests of [[workload]]. Each node has as many; how jobs are packed on nodes is not simulated.", Keys: config.TableKeys("localsched.devices", &map[string]config.Devices{})},
		{Name: "[[site.node_group]]", About: "Nodes of the preceding site that are alike, for a machine whose nodes are not; one table for each group. Then [site.localsched] needs no cpus, nodes, memory, features and devices. How jobs are packed on nodes is not simulated.", Keys: nodeGroupKeys()},
		{Name: "[site.localsched.bgp]", About: `Partitions of the machine, for machine = "bgp".`, Keys: config.TableKeys("localsched.bgp", bgp)},
		{Name: "[site.localsched.slurm]", About: `No effect: a site is simulated with plugin = "process".`, Keys: config.TableKeys("localsched.slurm", slurm)},
		{Name: "[site.localsched.cpu_model]", About: "A CPU of the preceding site in the Γ model (docs/cost-model.md). It determines the run times of components.", Keys: config.TableKeys("localsched.cpu_model", &config.CPUModel{})},
		{Name: "[site.latency]", About: "Times that the peer and the local scheduler of the preceding site need for their work. The key latencies of [[workload]] overrides submit, start and end for single jobs. Messages between sites have the latency of [network] or [[link]] in addition.", Keys: latencyKeys()},
		{Name: "[site.tariff]", About: "Price of a CPU at the preceding site, for policies that use prices.", Keys: config.TableKeys("tariff", &site.Tariff)},
		{Name: "[site.power]", About: "Power draw of the machine and power budget of the preceding site: a job that would exceed the budget stays pending. The draw of a job is watts_per_cpu times its factor of [power]. Hours are in the site's time zone, and the budget uses the actual prices. Without a budget, idle CPUs draw nothing.", Keys: config.TableKeys("power", &site.Power)},
		{Name: "[site.power.series]", About: "Not simulated; an experiment that sets feed is refused.", Keys: config.TableKeys("power.series", &site.Power.Series)},
		{Name: "[site.prices]", About: `Time zone of the preceding site, and where it buys its electricity; the feed is "file" or "tariff". If time_zone is unset, that of [electricity] applies.`, Keys: config.TableKeys("prices", &site.Prices)},
		{Name: "[site.price_file]", About: "A file of electricity prices for the preceding site, in a format of docs/prices.md. The prices of a day are known from its midnight on; later ones are forecast.", Keys: priceFileKeys()},
		{Name: "[[site.period]]", About: "A time of the week or the year with its own price, for the preceding site. The first matching period applies; all are known in advance.", Keys: periodKeys()},
		{Name: "[site.cost]", About: "Charges of the preceding site, with the keys of [cost] in a site's configuration. Amounts are in the site's currency, and hours are in its time zone.", Keys: config.TableKeys("cost", &config.Cost{})},
		{Name: "[site.cost.cpu]", About: "Cost of CPU use at the site.", Keys: config.TableKeys("cost.cpu", &config.CPUCost{})},
		{Name: "[[site.cost.cpu.period]]", About: "A period with its own price.", Keys: config.TableKeys("cost.cpu.period", &config.CostPeriod{})},
		{Name: "[[site.cost.license]]", About: "A license that jobs may use at the site.", Keys: config.TableKeys("cost.license", &config.LicenseCost{})},
		{Name: "[site.cost.eco]", About: "Cost of energy and cooling at the site, by [site.power] watts_per_cpu. With a price here the site needs no other price of electricity.", Keys: config.TableKeys("cost.eco", eco)},
		{Name: "[site.cost.data]", About: "Cost of data transfers of guests at the site.", Keys: config.TableKeys("cost.data", &config.DataCost{})},
		{Name: "[[workload]]", About: "Source of the jobs of a site: a trace, a built-in model or a model file. A site may have any number of workloads. A trace or model of a grid contains the jobs of several sites.", Keys: workloadKeys()},
		{Name: "[[plugin]]", About: `A policy or local scheduler of the kind "policy" or "localsched" that runs as a separate program; docs/plugins.md explains how to write one. A plugin that fails ends the simulation, unless [policy] sets a fallback.`, Keys: config.TableKeys("plugin", &plugin)},
		{Name: "[[application]]", About: `An application that users submit, once or repeatedly, in addition to the workloads; docs/applications.md explains applications. Its file has the format of "switchyard submit". The behavior of each component in the file is its actual behavior. Predictions use the statements of users and the run history.`, Keys: applicationKeys()},
		{Name: "[exchange_rates]", About: "Exchange rates of currencies, if sites have different ones.", Keys: config.TableKeys("exchange_rates", &plan.ExchangeRates)},
		{Name: "[[waiting_cost]]", About: "The cost of waiting for results: an hourly cost over time in the time zone of [electricity], which applications name.", Keys: config.TableKeys("waiting_cost", &config.WaitingCost{})},
		{Name: "[default_weights]", About: "Weights of the costs for applications that set none.", Keys: config.TableKeys("default_weights", &plan.DefaultWeights)},
		{Name: "[policy]", About: "The policy that decides rounds, at all sites. The scheme local has no policy.", Keys: config.TableKeys("policy", &plan.Policy)},
		{Name: "[policy.tc]", About: "Parameters of the policy tc.", Keys: config.TableKeys("policy.tc", &plan.Policy.TC)},
		{Name: "[policy.mcmf]", About: "Parameters of the policies mcmf, inst and twoprice.", Keys: config.TableKeys("policy.mcmf", &plan.Policy.MCMF)},
		{Name: "[policy.iss]", About: "Parameters of the policy iss.", Keys: config.TableKeys("policy.iss", &plan.Policy.ISS)},
		{Name: "[rounds]", About: "When a round starts, and which sites it asks for quotes, at all sites. The scheme of the experiment sets what opens a round; initiation is another way to set it.", Keys: config.TableKeys("rounds", &plan.Rounds)},
		{Name: "[moves]", About: "Jobs that wait in a local queue are placed again if another site would end them sooner. In the papers they stay where they are placed.", Keys: config.TableKeys("moves", &plan.Moves)},
		{Name: "[localsched]", About: "Settings of the local schedulers of all sites.", Keys: config.TableKeys("localsched", &plan.LocalSched)},
		{Name: "[guest_limits]", About: "Limits at which sites decline guests, to protect their local users. Under central and portal, all jobs of the grid are guests; the local jobs are those that stay by grid_share.", Keys: config.TableKeys("guest_limits", &plan.GuestLimits)},
		{Name: "[fairshare]", About: "Order in which jobs of several users get rounds, at all sites. The users are those of the traces, as u1 and u2, apart at each site.", Keys: config.TableKeys("fairshare", &plan.FairShare)},
		{Name: "[fairshare.weights]", About: "Weights of the factors of a job's priority.", Keys: config.TableKeys("fairshare.weights", &plan.FairShare.Weights)},
		{Name: "[fairshare.accounts]", About: "Shares of accounts. The jobs of traces have none: the users are in the account \"\".", Keys: config.TableKeys("fairshare.accounts", &map[string]config.ShareAccount{})},
		{Name: "[electricity]", About: "Date of the experiment, and what sites know of prices that are not published yet.", Keys: electricityKeys()},
		{Name: "[power]", About: "Power draw of a job as a factor of its site's, sampled for each job between two bounds.", Keys: powerKeys()},
		{Name: "[data]", About: "Data that are transferred with a job that leaves its site. Its CPUs are allocated and idle until the transfer ends.", Keys: dataKeys()},
		{Name: "[[data.link]]", About: "Data transfer between two sites, in both directions, instead of [data]. Later tables override earlier ones.", Keys: append(pairKeys(), dataLinkKeys()...)},
		{Name: "[network]", About: "Delay and loss of messages between sites. Without this table each message arrives at once.", Keys: networkKeys()},
		{Name: "[[link]]", About: "Delay and loss of messages between two sites, in both directions, instead of [network]. Later tables override earlier ones.", Keys: append(pairKeys(), networkKeys()...)},
		{Name: "[[cut]]", About: "A time in which the link between two sites is down.", Keys: cutKeys()},
		{Name: "[[crash]]", About: "A time in which a site's peer is down. It restarts with its stored state; its local scheduler continues meanwhile.", Keys: crashKeys()},
	}, tuneTables()...)
}

func topKeys() []settings.Key {
	return []settings.Key{
		{Name: "name", About: "Name of the experiment. If unset, the name of its file."},
		{Name: "about", About: "Description of the experiment in one sentence."},
		{Name: "scheme", Default: `"sender"`, About: `How jobs are placed: ` + oneOf(Schemes()) + `. "local": every job stays at its site. "sender", "receiver" and "symmetric": a peer at each site, as in a real grid. "cycle": as sender, but each peer places all jobs of its grid queue once in each cycle. "central": one queue with full information on all sites. "portal": as central, in cycles, like the metascheduler of the MCMF paper. "ideal": one virtual machine and perfectly malleable jobs, a bound that no scheduler can reach.`},
		{Name: "compare", Default: "[]", About: "Schemes that are run in addition, for comparison."},
		{Name: "seed", Default: "1", About: "Random seed. Equal seeds give byte-identical output."},
		{Name: "seeds", Default: "10", About: "Number of seeds of a sweep, starting at seed."},
		{Name: "estimates", Default: `"trace"`, About: `Run time estimates of jobs. "trace": those of their users, if the trace has them. "perfect": the actual run times.`},
		{Name: "load", Default: "1.0", About: "Divides all times between submissions: 1.3 is 30 % more work in the same time."},
		{Name: "history", Default: "0", About: "Number of first jobs that stay at the site where they were submitted and are not measured. They fill the machines and provide data for wait predictions."},
		{Name: "grid_share", Default: "1.0", About: "Share of the jobs after the history that are submitted to the grid, sampled by the seed. The other jobs stay at the site where they were submitted, and are measured too."},
		{Name: "partners", Default: "0", About: "Number of partners of each site, sampled by the seed. With 0, all other sites are partners."},
		{Name: "perturb", Default: `"0s"`, About: "Maximum absolute error added to each quoted wait, sampled uniformly."},
		{Name: "currency", About: `Currency of the sites' prices, such as "EUR". If unset, quotes carry no prices.`},
		{Name: "check", Default: "0", About: "Number of events between two full checks of the grid's invariants. With 0, they are checked only at the end."},
	}
}

func siteKeys() []settings.Key {
	return []settings.Key{
		{Name: "name", About: "Name of the site: lower case letters, digits and hyphens. Required, except with config."},
		{Name: "config", About: `Configuration of a live site, a file or a directory of files, instead of all other keys except peer_seed, first_check and [site.latency]: the site is simulated as it is configured, as with "switchyard sim run --site". Either all sites have one, or none. The scheme is then "configured" or "local"; [policy] name and [rounds] initiation override those of all configurations.`},
		{Name: "currency", About: "Currency of the site's charges and of its users. If unset, that of the experiment."},
		{Name: "price", About: "Price of a MWh outside the [[site.period]] tables. Not allowed with [site.price_file] or [site.prices] area."},
		{Name: "area", About: "Price area of the site, for a [site.price_file] with several areas."},
		{Name: "peer_seed", Default: "0", About: "Random seed of the site's peer, which samples pauses and the order of partners. With 0, it follows from the seed of the run."},
		{Name: "first_check", Default: `"0s"`, About: "Time from the start of the experiment to the first check of utilization by the site's peer; further ones follow after each check_interval of [rounds]. With 0, sampled by the seed."},
	}
}

func nodeGroupKeys() []settings.Key {
	return []settings.Key{
		{Name: "nodes", About: "Number of nodes. Required."},
		{Name: "cpus", About: "CPUs of each node. Required."},
		{Name: "memory", About: `Memory of each node, such as "256GB". If unset, it is not limited.`},
		{Name: "features", About: "Features of each node, which jobs may require."},
		{Name: "resources", About: `Devices of each node, as --gres of sbatch names them: "gpu:a100:4".`},
	}
}

func latencyKeys() []settings.Key {
	return []settings.Key{
		{Name: "commit", Default: `"0s"`, About: "Time until the records of a decision are durable. Messages to partners and calls of the local scheduler wait for it."},
		{Name: "call", Default: `"0s"`, About: "Time of a quote by the local scheduler, or of a decision by the policy."},
		{Name: "submit", Default: `"0s"`, About: "Time until a job is in the local queue."},
		{Name: "start", Default: `"0s"`, About: "Time from the decision of the local scheduler to start a job to the start of the job, whose CPUs are allocated."},
		{Name: "end", Default: `"0s"`, About: "Time from the end of a job until its CPUs are free."},
	}
}

func workloadKeys() []settings.Key {
	return []settings.Key{
		{Name: "site", About: "Name of the site where the jobs are submitted. Required, except for jobs of a grid."},
		{Name: "load", Default: "1.0", About: "Load factor of this workload; it is multiplied by the key load above all tables."},
		{Name: "trace", About: "File of a trace, plain or compressed with gzip."},
		{Name: "format", About: `Format of the trace: "swf", "gwf" or "sacct" (output of sacct -P). If unset, by the file name's ending: .swf or .gwf, else sacct.`},
		{Name: "split", About: `For a trace of a grid: the field of a record that identifies the site, "partition" or "site" (field 19). Sites are matched by the names in the trace's header, or else by number in the order of this file. Jobs of other sites are omitted, and reported.`},
		{Name: "from", About: `Start of the window of submission times, in the site's time zone, such as "2002-03-01" or "2002-03-01 14:30:00". The experiment starts at it. If unset, the start of the trace.`},
		{Name: "to", About: "End of the window of submission times (exclusive). If unset, the end of the trace."},
		{Name: "skip_queues", Default: "[]", About: "Numbers of queues whose jobs are omitted; 0 is by convention the interactive queue."},
		{Name: "skip_status", Default: "[]", About: "Numbers of job states that are omitted: 0 failed, 5 cancelled."},
		{Name: "skip_zero_runs", Default: "false", About: "Omit jobs with run time 0. Otherwise they run for one second."},
		{Name: "keep_overruns", Default: "false", About: "Let jobs that ran longer than their time limit run as long as in the trace, with the limit raised to match. Otherwise they are cut to the time limit, as by a local scheduler that enforces limits."},
		{Name: "latencies", About: "CSV file with the latencies of the trace's jobs, wherever they run: the columns job_id, submit, start and end, in seconds, with the meanings of [site.latency]. Jobs that are not in it have those of the site that runs them."},
		{Name: "requests", About: "CSV file with what the trace's jobs request beyond CPUs and a time limit: the column job_id and some of " + requestNames() + ", with the meanings of the API. An empty field is unset. In resources stand names, types and counts as in --gres, each with what its count is of: \"gpu:a100:2 per node,license:solver:1 per job\"; \"per node\" may be left out. Jobs that are not in it request no more. Their data cost and take what the sites' configurations and [data] say."},
		{Name: "lenient", Default: "false", About: "Omit malformed lines, which are counted and reported. Otherwise they are errors."},
		{Name: "model", About: "Built-in model that jobs are sampled from: " + strings.Join(Models(), ", ") + ", the machines of the superscheduler paper; or xsede, the grid of the MCMF paper, for the sites with the names of its systems: " + xsedeNames() + "."},
		{Name: "model_file", About: `File of a model, as "switchyard sim fit --out" writes it, of periods or of classes.`},
		{Name: "span", About: "Time over which the model's jobs are submitted. If unset, that of the trace for a model of periods; otherwise 14d."},
		{Name: "service", Default: "1.0", About: "Factor of the model's run times."},
		{Name: "bias", Default: "0.0", About: "Where job sizes lie between the smallest (-1) and the largest (1) of each class of the model; 0 is uniform. Not for models of periods."},
		{Name: "jobs", Default: "0", About: "Number of the model's jobs at load 1; the surplus is dropped at random. With 0, all jobs. For xsede, the number of first jobs after the history; with 0, 10,000."},
		{Name: "scale", Default: "false", About: "Scale the job sizes of the model to this machine. Otherwise only the classes that fit it completely are sampled."},
		{Name: "size_unit", Default: `"cpu"`, About: `What the model's jobs request: "cpu", any number of CPUs, of which a machine with whole_node allocates whole nodes; or "node", all CPUs of whole nodes.`},
	}
}

func applicationKeys() []settings.Key {
	return append([]settings.Key{
		{Name: "name", About: "Name of the application. If unset, the name of its file."},
		{Name: "file", Required: true, About: `File of the application, in the format of "switchyard submit"; its scripts must exist, and each component needs a behavior.`},
		{Name: "site", Required: true, About: "Name of the site where the application is submitted."},
		{Name: "user", Default: `"user"`, About: "User who submits the application. The run history of a component is kept by user and name."},
		{Name: "start", Default: `"0s"`, About: "Time of the first submission, after the start of the experiment."},
		{Name: "count", Default: "1", About: "Number of submissions."},
		{Name: "every", Default: `"0s"`, About: "Time between two submissions."},
		{Name: "rate", Default: "0.0", About: "Mean number of submissions a day at random times, instead of every. With 0, every applies."},
		{Name: "cases", Default: "1", About: "Number of identical copies of each component."},
		{Name: "noise", Default: "0.0", About: "Maximum relative error of each run time and each measured number, sampled at random."},
		{Name: "overlap", Default: "0.0", About: "Overlap of computation and communication, as a share of the shorter of the two; the Γ model has no overlap."},
		{Name: "misstated", Default: "1.0", About: "Error of the operations, accesses, words and messages that users state: each is multiplied by a factor between 1/misstated and misstated, sampled once. With 1, they are correct."},
		{Name: "unstated", Default: "false", About: "Whether users state no behavior."},
		{Name: "growth", Default: "0.0", About: "Relative growth of the components' work from each submission to the next, which users do not state."},
		{Name: "unmeasured", Default: "[]", About: "Quantities that sites do not measure in its runs: " + oneOf(counters()) + ". The run time is always measured."},
		{Name: "objective", About: "One of " + oneOf(cost.Objectives()) + ". If unset, that of its file, as for all following keys; keys set in neither follow [default_weights]."},
		{Name: "max_cost", About: `Maximum cost of the application, such as "50 CHF".`},
		{Name: "max_time", About: `Maximum time from submission to the end of the last transfer, such as "12h".`},
		{Name: "waiting_cost", About: "Name of the [[waiting_cost]] that applies."},
	}, weightKeys()...)
}

// weightKeys are the weights of [default_weights], which applications have too.
func weightKeys() []settings.Key {
	noWeight := func(key settings.Key) bool { return !strings.HasSuffix(key.Name, "_weight") }
	return slices.DeleteFunc(config.TableKeys("default_weights", &Application{}), noWeight)
}

func electricityKeys() []settings.Key {
	return []settings.Key{
		{Name: "start", Default: `"2026-01-01 00:00"`, About: "Date and time at the start of the experiment. With a history: at the start of the day, counted from the beginning, on which the last job of the history is submitted."},
		{Name: "zone", Default: `"UTC"`, About: "Time zone of that date, and of sites without a zone."},
		{Name: "forecast", Default: `"auto"`, About: `Forecast of prices that are not published yet: "auto", "yesterday", "blend", "mean", "flat", "sarima", or an order such as "(1,0,1)(1,0,1)24". "known": the actual future prices (oracle).`},
	}
}

func powerKeys() []settings.Key {
	return []settings.Key{
		{Name: "low", Default: "1.0", About: "Lowest factor; 0.6 is 60 % of watts_per_cpu."},
		{Name: "high", Default: "1.0", About: "Highest factor, such as 1.4."},
	}
}

func dataKeys() []settings.Key {
	return append([]settings.Key{
		{Name: "size", Default: `"0B"`, About: "Size of the data of each job of the workloads, such as \"1TB\". With 0, nothing is transferred. Components of applications have their own sizes."},
		{Name: "sizes", About: "Sizes of which one is drawn from the seed for each job, all equally likely, instead of size: [\"0\", \"1GB\", \"10TB\"]."},
	}, dataLinkKeys()...)
}

func dataLinkKeys() []settings.Key {
	return []settings.Key{
		{Name: "bandwidth", About: `Transfer rate, such as "125MB/s" or "1Gbit/s". Required if there are data to transfer, or with a latency or a price.`},
		{Name: "latency", Default: `"0s"`, About: "Time until the first data arrive."},
		{Name: "per_gb", Default: "0.0", About: "Cost of the transfer of a GB in each direction, for the origin of the job and in its currency."},
		{Name: "per_hour", Default: "0.0", About: "Cost of each hour of data transfer."},
	}
}

func priceFileKeys() []settings.Key {
	return []settings.Key{
		{Name: "path", Required: true, About: "The file, plain or compressed with gzip."},
		{Name: "format", Required: true, About: oneOf(priceformat.Formats()) + "."},
		{Name: "zone", About: "Time zone of the file. If unset, for hourly that of the site."},
		{Name: "start", About: "For hourly: local time of the first price."},
		{Name: "hours", About: `For hourly: "elapsed", one line for each elapsed hour, or "clock", 24 lines a day. If unset, elapsed.`},
		{Name: "area", About: "For hourly and csv: the area. If unset, for hourly the site's name."},
		{Name: "currency", About: "Currency of the prices. If unset, that of the experiment."},
		{Name: "unit", About: `"MWh" confirms that prices below 1 are correct.`},
		{Name: "slot", Default: `"0s"`, About: "For hourly and csv: how long a price applies. With 0, an hour."},
		{Name: "gaps", Default: "false", About: "Allow times without a price; they cost the mean."},
		{Name: "max_price", Default: "0.0", About: "Reject prices above this amount per MWh. With 0, 10000."},
		{Name: "sequence", Default: "0", About: "For entsoe: which of several auctions is read."},
		{Name: "rename", About: "Other names for areas."},
	}
}

func periodKeys() []settings.Key {
	return []settings.Key{
		{Name: "months", About: `Months, such as "nov-feb". If unset, all.`},
		{Name: "days", About: `Weekdays, such as "mon-fri". If unset, all.`},
		{Name: "hours", About: `Times of the day, such as "06:00-22:00". If unset, all.`},
		{Name: "price", Required: true, About: "Price of a MWh in the period."},
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

func networkKeys() []settings.Key {
	return []settings.Key{
		{Name: "latency", Default: `"0s"`, About: "Latency of every message."},
		{Name: "jitter", Default: `"0s"`, About: "Maximum additional latency, sampled uniformly from 0; messages can therefore arrive out of order."},
		{Name: "loss", Default: "0.0", About: "Probability that a message is lost."},
		{Name: "duplicate", Default: "0.0", About: "Probability that a message arrives twice."},
	}
}

func pairKeys() []settings.Key {
	return []settings.Key{
		{Name: "a", Required: true, About: "Name of a site."},
		{Name: "b", About: "Name of the other site. If unset, all other sites."},
	}
}

func cutKeys() []settings.Key {
	return append(pairKeys(), []settings.Key{
		{Name: "from", Default: `"0s"`, About: "Start of the cut, after the start of the experiment."},
		{Name: "until", Required: true, About: "End of the cut."},
	}...)
}

func crashKeys() []settings.Key {
	return []settings.Key{
		{Name: "site", Required: true, About: "Name of the site."},
		{Name: "at", Default: `"0s"`, About: "Time of the crash, after the start of the experiment."},
		{Name: "for", Required: true, About: "How long the peer is down."},
	}
}
