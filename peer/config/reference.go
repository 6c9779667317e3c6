package config

// section describes a table of the configuration.
type section struct {
	name     string // "site", "policy.tc"
	array    bool   // [[name]]
	optional bool   // may be absent, and then means something else than its defaults
	about    string
	keys     []entry
}

// entry describes a key. It has the value of [Default], unless that is empty.
type entry struct {
	name     string
	example  string // in TOML, where there is no default
	required bool   // there is no default and there must be a value
	live     bool   // a reload changes it while the peer runs
	about    string // what it means; and what it is when it is not set, if that is not a value
}

// reference describes all tables and keys in the order in which they are printed.
func reference() []section {
	sections := []section{
		{name: "site", about: "Who this site is and where its peer keeps its things.", keys: siteKeys()},
		{name: "nats", about: "How this site and its partners reach each other: the peer runs a NATS server of its own, which partners connect to (listen), and connects to those of its partners. For two partners, one that can be reached is enough. A large grid may use a NATS system of its own instead (url).", keys: natsKeys()},
		{name: "gossip", optional: true, about: "How sites learn of each other's load, so that a round asks the best ones first. Without this table there is no gossip, which is fine for a few sites.", keys: gossipKeys()},
		{name: "localsched", about: "The batch system of this site and the machine that it manages.", keys: localSchedKeys()},
		{name: "localsched.slurm", optional: true, about: "The commands of a real Slurm, for plugin = \"slurm\". docs/slurm.md says what Slurm must be told.", keys: slurmKeys()},
		{name: "localsched.bgp", optional: true, about: "How the machine is cut into partitions, for machine = \"bgp\". docs/power.md describes the file.", keys: bgpKeys()},
		{name: "localsched.cpu_model", optional: true, about: "A CPU of the machine as the Γ model sees it, for the policy iss: with it the run times of components are predicted from what they do. docs/cost-model.md explains it; \"switchyard benchmark\" measures this computer.", keys: gammaKeys()},
		{name: "tariff", about: "What this site charges when a CPU has one price at all times; its quotes then carry a price, which policies may go by. [cost] can say more, and excludes this.", keys: []entry{
			{name: "cpu_hour", example: "0.04", about: "Price of one CPU for one hour, with up to six decimals. Not set: nothing."},
			{name: "currency", example: `"EUR"`, about: "Currency of cpu_hour, in three capital letters. Not set: quotes carry no prices."},
		}},
		{name: "power", about: "What the machine draws; with [prices], this site's quotes then tell what a job's electricity costs. And what its jobs may draw together: a power budget, by which local jobs and those of partners are started. docs/power.md explains it.", keys: powerKeys()},
		{name: "power.series", about: "A power budget that is another one every hour, as a supplier or a demand response programme tells it. Between its hours only budget_kw counts; where both hold, the lower. Once its last hour has passed, its last budget goes on to hold, and \"switchyard status\" has an alarm.", keys: seriesKeys()},
		{name: "prices", about: "Where this site buys its electricity, and which feed knows the prices. Without prices the site schedules all the same: its quotes then name no cost, and \"switchyard sites\" says why. docs/prices.md explains feeds and their files.", keys: priceKeys()},
	}
	sections = append(sections, costSections()...)
	sections = append(sections, roundSections()...)
	return append(sections, []section{
		{name: "guest_limits", about: "When jobs of partners are declined for the sake of this site's own users. The partner is told the reason.", keys: []entry{
			{name: "max_owner_delay", example: `"10m"`, about: "The most that planning may show a waiting job of an own user delayed by a partner's job. Only batch systems that plan can tell. Not set: not looked at."},
			{name: "max_cpu_share", example: "0.4", about: "The most of the CPUs that partners' jobs may hold or wait for together, above 0, at most 1. Not set: any share."},
		}},
		{name: "submit", about: "What becomes of jobs that are submitted at this site.", keys: []entry{
			{name: "export_remote", about: "Variables of the submitter's environment that go with a job to another site, besides those that its user names (--export, --export-remote): names, or beginnings of names with a star. At this site a job has its whole environment. A star takes in no variable that looks secret, as those with TOKEN or PASSWORD in their names; they leave by their full names only."},
		}},
		{name: "limits", about: "Bounds that protect this site's own peer.", keys: []entry{
			{name: "max_active_jobs", about: "How many jobs submitted at this site may be unfinished at once; more are refused."},
			{name: "max_jobs_per_user", about: "How many of them one user may have; root and the account of the peer are users like others."},
		}},
		{name: "results", about: "Output of this site's jobs that ran at partners.", keys: []entry{
			{name: "max_output", about: "The most that the output files of one job may have together, holes included. A job with more ends as it did there, but its output is not fetched, and its reason says so."},
			{name: "max_kept", about: "How much of the disk the files in kept in state_dir may take: output that could not be written where its submitter wanted it. The oldest go first; the newest stays in any case."},
			{name: "keep_for", about: "How long they stay."},
		}},
		{name: "retention", about: "How long the peer keeps what no job needs any more. It looks every hour; the database shrinks when more than half of it is free.", keys: []entry{
			{name: "finished_jobs", about: "How long a finished job is listed, and \"switchyard status\" knows it, after its end."},
			{name: "max_finished_jobs", about: "How many finished jobs are kept at most; of more, those that ended first are dropped."},
			{name: "events", about: "How long \"switchyard explain\" knows what happened to a job; at most as long as the job is kept."},
		}},
		{name: "accounts", about: "Which account of this machine runs the jobs of this site's own users. No job ever runs as root. A peer that does not run as root can start jobs only as its own account.", keys: accountKeys()},
		{name: "api", about: "Who may see and do what through the socket.", keys: []entry{
			{name: "private", example: "true", about: "Whether people see their own jobs only, as with PrivateData=jobs of Slurm: queue, status, explain, logs, cancel and history then treat jobs of others, and of partners' users, as unknown. Root, the peer's account and admins see all. Not set: everybody sees who runs what."},
			{name: "admins", example: `["ops"]`, about: "Users of this site who see and may cancel everybody's jobs, as root and the peer's account may. They may not read their output. Not set: nobody else."},
		}},
		{name: "metrics", about: "What monitoring reads: Prometheus metrics and health.", keys: []entry{
			{name: "listen", about: "Host and port of the HTTP server that it reads them from. Empty: none."},
		}},
		{name: "log", about: "What the peer writes to standard error.", keys: []entry{
			{name: "level", live: true, about: "The least important messages that are written: \"debug\", \"info\", \"warn\" or \"error\"."},
			{name: "format", about: "\"json\" for machines, \"text\" for people."},
		}},
		{name: "plugin", array: true, optional: true, about: "A plugin: a program that this peer starts, watches and asks; one such table for each. docs/plugins.md says how to write one. It runs as the peer's account, so trust it as you trust the peer.", keys: pluginKeys()},
		{name: "partner", array: true, optional: true, about: "A site to exchange jobs with; one such table for each. The partner must do the same with this site. Nothing of a partner runs here unless max_jobs and users allow it.", keys: partnerKeys()},
	}...)
}

func siteKeys() []entry {
	return []entry{
		{name: "name", required: true, example: `"north"`, about: "The site's name: 1 to 32 lower case letters, digits and hyphens, beginning with a letter. No other site of the grid may have it."},
		{name: "number", required: true, example: "1", about: "The site's number, 1 to 9000, with which the ids of its jobs begin. No other site of the grid may have it."},
		{name: "state_dir", about: "Folder of the peer's database and of the jobs' files. It must lie on a local disk."},
		{name: "key", about: "File of the site's secret key, with mode 0600. \"switchyard keygen --out PATH\" makes it, and PATH.pub for the partners."},
		{name: "socket", about: "Socket that the commands submit, queue and the rest talk to; at most 103 characters."},
		{name: "machine", example: `"north-pair"`, about: "Name of the machine, for a state_dir that moves between computers on purpose, as that of a failover pair: both state the same name. Not set: /etc/machine-id and the inode of state_dir count, and a copied or moved state_dir starts nothing until an operator has run switchyard recover."},
		{name: "seed", about: "Seed of all that the peer chooses by chance, such as the jitter of its pauses. The site's number goes in too, so that all sites may have one seed."},
		{name: "currency", example: `"CHF"`, about: "Currency of [cost], [[waiting_cost]] and the links of [[partner]], and of the limits of this site's users. Not set: that of [tariff]."},
	}
}

func natsKeys() []entry {
	return []entry{
		{name: "listen", about: "Host and port of the peer's own NATS server; partners must be able to connect to it. Empty: there is none, and this site connects to all its partners itself. Excludes url."},
		{name: "url", example: `"nats://nats1.example.org:4222,nats://nats2.example.org:4222"`, about: "Servers of an external NATS system that all sites of the grid use instead of their own."},
		{name: "creds", example: `"/etc/switchyard/nats.creds"`, about: "File with the credentials for url. At most one of creds, nkey and token may be set."},
		{name: "nkey", example: `"/etc/switchyard/nats.nkey"`, about: "File with the nkey seed for url."},
		{name: "token", example: `"/etc/switchyard/nats.token"`, about: "File with the token for url."},
		{name: "ca", example: `"/etc/switchyard/nats-ca.pem"`, about: "File with the certificates that those of the servers of url must lead to. Not set: those that the system trusts."},
	}
}

func gossipKeys() []entry {
	return []entry{
		{name: "bind", about: "IP address and port to listen on, for both UDP and TCP."},
		{name: "advertise", example: `"192.0.2.7:7601"`, about: "IP address and port that the other sites reach. Must be set when bind is every address (0.0.0.0). Not set: as bind."},
		{name: "join", example: `["gossip.south.example.org:7601"]`, about: "Host and port of some sites to begin with; two or three are enough, they know the rest."},
		{name: "keyring", required: true, example: `"/etc/switchyard/gossip.keys"`, about: "File with the keys that encrypt the gossip, the same at all sites, with mode 0600: one key in base64 a line; the first encrypts, all decrypt. \"switchyard keygen --gossip PATH\" makes one."},
		{name: "announce_interval", about: "Time between two announcements of this site's load when it does not change."},
		{name: "rejoin_interval", about: "Time between two searches for sites that were lost."},
	}
}

func localSchedKeys() []entry {
	return []entry{
		{name: "plugin", about: "The batch system. \"process\" is the built-in one, which runs jobs on this computer. \"slurm\" is the Slurm of this site. Otherwise the name of a [[plugin]] of the kind \"localsched\". All keys below but mhz, mflops, wait_prediction and max_output are for \"process\"."},
		{name: "machine", about: "\"per-cpu\": jobs share nodes. \"whole-node\": a node runs one job at a time. \"bgp\": a job runs in a partition, as on Blue Gene/P; see [localsched.bgp]."},
		{name: "cpus", example: "64", about: "CPUs of the whole machine. Not set: as many as this computer has."},
		{name: "nodes", about: "Nodes of the whole machine; they have the same number of CPUs each, so it divides cpus. With machine = \"bgp\" the partitions tell it."},
		{name: "memory", example: `"256GB"`, about: "Memory of a node; jobs that ask for more go elsewhere. Not set: not looked at."},
		{name: "mhz", example: "2400", about: "Speed of a CPU, by which the time limits of jobs are scaled on their way between sites of different speed. Not set: jobs keep their limits."},
		{name: "mflops", example: "4400", about: "Speed of a CPU in Mflop/s, as a benchmark measured it; between two sites that both state it, it counts instead of mhz. Not set: mhz counts."},
		{name: "wait_prediction", about: "Where the waits of quotes come from. \"plan\": the batch system. \"adaptive\": what jobs like it waited here, in such a state of the machine and its queue. \"qbets\": bounds from the latest waits alone, for machines whose users give no time limits. \"ibl\": the most similar jobs. In each case quotes also tell from how far off they were lately how much longer it may take; a restart begins anew."},
		{name: "max_wall_time", example: `"7d"`, about: "The longest time limit that a job may have. Not set: any."},
		{name: "policy", live: true, about: "Which queued jobs start first. \"easy\" (or \"fcfsbf\"): in the order of arrival, and later ones before that if they do not delay the first (EASY backfilling). \"conservative\": likewise, if they delay nobody before them. \"fcfs\": in the order of arrival, and nothing overtakes. \"firstfit\" (or \"ff\"): whatever fits, in the order of arrival. \"sjf\": the shortest limit first, and nothing overtakes. \"sjffit\": whatever fits, the shortest limit first. \"easysjbf\": as easy, and of the later ones the shortest limit first."},
		{name: "kill_grace", about: "Time between asking a job to end (SIGTERM) and ending it (SIGKILL)."},
		{name: "on_stop", about: "What becomes of running jobs when the peer stops. \"leave\": they go on, and the next start finds them. \"end\": they are ended."},
		{name: "max_processes", about: "How many processes and threads a job may have at once. It takes cgroups, as does the limit of a job's memory that --mem asks for."},
		{name: "cgroup", about: "Where each job gets a control group (cgroup v2 or v1), with which all its processes are ended, and their memory and number are limited. \"own\": below the peer's own group. A path in the hierarchies, as \"/switchyard\": below that group, which is made if need be. \"none\": nowhere. docs/operations.md says what the machine must allow; without it jobs run all the same, and \"switchyard status\" says what is lacking."},
		{name: "max_output", about: "How much a job of a partner may write to a file, its output above all: what it writes beyond that fails, and what is more of its output is not returned. For \"process\" and \"slurm\"."},
	}
}

func roundSections() []section {
	return []section{
		{name: "policy", about: "How a round places jobs.", keys: []entry{
			{name: "name", live: true, about: "\"tc\": where the turnaround (wait + run time) is least. \"mcmf\": in cycles, all at once by a min-cost max-flow over response time and cost of electricity. \"inst\" and \"twoprice\": likewise, for comparison, without waits or with two prices a day. \"iss\": applications of components, each where a cost function of machine use, licences, energy, waiting and data is least within its user's limits. \"stable\": in cycles, by stable matching: jobs prefer short response times, sites low costs. \"random\": anywhere, for comparison. \"local\": at the site where they were submitted. Otherwise the name of a [[plugin]] of the kind \"policy\"."},
			{name: "fallback", about: "The built-in policy that decides while a plugin does not, because it hangs, died or returned nonsense."},
		}},
		{name: "policy.tc", about: "Parameters of the policy tc.", keys: []entry{
			{name: "turnaround_tolerance", live: true, about: "ε: among sites whose turnaround is within this of the least, the least busy one gets the job."},
		}},
		{name: "policy.mcmf", about: "Parameters of the policies mcmf, inst and twoprice.", keys: []entry{
			{name: "normalise", live: true, about: "How time and money are compared. \"round\": by weight, so that the longest and the shortest response of a cycle are as far apart as its dearest and its cheapest quote, whatever these are. \"price\": an hour of a job is worth delay_price."},
			{name: "weight", live: true, about: "w: share of the response time in a placement's cost, from 0 to 1; the rest is the cost of electricity. By \"round\" alone."},
			{name: "delay_price", live: true, about: "What it is worth that a job ends an hour sooner, in the currency of the site; 0: nothing, so that all jobs go where electricity is cheapest. By \"price\" alone."},
			{name: "cost_steps", live: true, about: "Steps into which the least and the greatest cost of a cycle are divided; 1 to 1000000. More tell finer differences apart."},
			{name: "marginal_jobs", live: true, example: "4", about: "2 to 64: for how many jobs of a cycle sites are asked how much longer each further one would wait, so that they spread before a site is full. Not set: only max_jobs_per_cycle bounds what a site gets."},
		}},
		{name: "policy.iss", about: "Parameters of the policy iss.", keys: []entry{
			{name: "max_gap", live: true, about: "How far the cost function of a choice may be above the least that is possible, as a share of it from 0 to 1, once the search has taken a sixteenth of max_search_nodes. What is found before is the least."},
			{name: "max_search_nodes", live: true, about: "Steps after which the search for the choices of one application ends with the best known; 1 to 1000000000. A million takes about a twentieth of a second."},
			{name: "paper_objective", live: true, example: "true", about: "Whether what waiting costs counts for each component as well as for the application, as the formula of the ISS paper is printed."},
		}},
		{name: "rounds", about: "When sites are asked for quotes, and which.", keys: []entry{
			{name: "initiation", live: true, about: "What opens a round. \"sender\": the site that has a job to place asks its partners. \"receiver\": the job waits until a partner volunteers, and only volunteers are asked; partners volunteer under receiver and symmetric. \"symmetric\": volunteers are asked if there are any, else all partners. \"cycle\": once a cycle all jobs that wait are placed together. A job that its own site cannot run has all partners asked in any case. Not set: \"cycle\" with a built-in policy other than tc and local, else \"sender\"."},
			{name: "cycle_interval", live: true, about: "Time between two rounds under the initiation cycle, and the period of max_jobs_per_cycle."},
			{name: "max_jobs_per_cycle", live: true, example: "2", about: "MaxQ: how many jobs this site takes in a cycle, from all sites together, whatever opens their rounds. Not set: any number."},
			{name: "local_wait_threshold", live: true, about: "φ: a job that would wait less than this at its own site stays there, and nobody is asked."},
			{name: "check_interval", live: true, about: "σ: time between two looks at a silent partner, and between two rounds for a job that found no site. Under receiver and symmetric also between two looks at this site's own utilisation, after which it may volunteer, and at the waits of the jobs that wait for volunteers; a volunteer counts for as long."},
			{name: "volunteer_below", live: true, about: "δ: the site volunteers while less than this share of its CPUs runs jobs; above 0, at most 1."},
			{name: "recheck_jobs", live: true, example: "10", about: "How many of the jobs that wait for volunteers have their wait at this site looked at again every check_interval, the first in line. Not set: all."},
			{name: "jobs_per_volunteer", live: true, example: "1", about: "How many jobs one volunteer may bring into rounds. Not set: any number."},
			{name: "stay_local", live: true, example: "true", about: "Under symmetric: whether a job stays at this site when no volunteer was better, without asking the other partners. Not set: they are asked."},
			{name: "quote_timeout", live: true, about: "How long a round waits for quotes; less than check_interval. A partner that misses it is left out until it is heard again."},
			{name: "round_jobs", live: true, about: "How many jobs may share a round."},
			{name: "partners_per_round", live: true, about: "How many partners are asked in a round: those that gossip calls the best."},
		}},
		{name: "handoff", about: "The patience of hand-offs. The defaults suit sites anywhere on Earth.", keys: []entry{
			{name: "retry_initial", about: "Time until an unanswered message is repeated for the first time; it doubles from then on."},
			{name: "retry_max", about: "The longest time between two repetitions."},
			{name: "submit_recheck_delay", about: "How long after an unclear submission the batch system is believed that it does not have the job."},
			{name: "start_margin", about: "Components that start together do so this long after the last wait that their sites quote: the time that it takes to have room held everywhere."},
			{name: "reclaim_after", about: "How long a partner must be out of reach before jobs submitted with --requeue are given to another site. Others wait for it."},
			{name: "tombstone_ttl", about: "How long finished hand-offs are remembered, to recognise late messages; longer than any partner is ever cut off."},
		}},
	}
}

func priceKeys() []entry {
	return []entry{
		{name: "area", example: `"DE-LU"`, about: "The price area, by the feed's name for it; \"switchyard prices\" and \"switchyard plugin info\" list these. Not set: no prices are asked for."},
		{name: "feed", example: `"file"`, about: "\"file\": files of prices, read again when they change. \"tariff\": a contract with fixed or time-of-use prices. Otherwise the name of a [[plugin]] of the kind \"price\"."},
		{name: "config", example: `"/etc/switchyard/prices/north.toml"`, about: "File with the configuration of a built-in feed, in TOML, in another folder than the peer's. That of a plugin is named in its [[plugin]]."},
		{name: "horizon", about: "How far ahead prices are wanted; beyond what is published they are forecast, and later still the mean counts. 1h to 31d."},
		{name: "refresh_interval", about: "Time between two questions to the feed. After a question that failed it asks again within check_interval."},
		{name: "history", about: "How much of the past is asked from the feed, for the forecasts. 1d to 100d."},
		{name: "forecast", about: "How prices are forecast that are not published yet. \"yesterday\": the same hour of the day before. \"blend\": 0.6 of that, and 0.4 of the same weekday of last week. \"mean\": the mean of the hour on the three days before. \"flat\": the mean of the three days before. \"sarima\": a seasonal model of the last 72 hours, or one of another order, as \"(1,0,1)(1,0,1)24\". \"auto\": whichever of the first four would have been best over the history."},
		{name: "time_zone", about: "The site's time zone, by its name in the IANA database, as \"Europe/Berlin\": when its days begin, which forecasts and on-peak hours go by."},
	}
}

func bgpKeys() []entry {
	return []entry{
		{name: "partitions", required: true, example: `"intrepid"`, about: "\"intrepid\": the 1467 partitions of the Blue Gene/P of Argonne. \"racks 2x8\": those of 2 rows of 8 racks, made in its manner. Otherwise the path of a file of partitions, which gzip may have packed."},
		{name: "smallest", about: "Nodes of the smallest partition that jobs get; smaller ones are not used, and jobs that need less get one of these."},
		{name: "mesh", about: "Whether jobs also get partitions whose loops are not closed. false: only those that are a torus."},
	}
}

func powerKeys() []entry {
	return []entry{
		{name: "watts_per_cpu", example: "30.588624", about: "Power of a CPU that works, and of its share of all else, with up to six decimals; quotes go by thousandths. Not set: quotes tell no cost of electricity, and there can be no budget."},
		{name: "idle_watts_per_cpu", live: true, example: "12.4", about: "Power of a CPU that a job holds and does not use, because nodes or partitions are given as a whole. Not set: nothing."},
		{name: "budget_kw", live: true, example: "12.5", about: "Kilowatts that running jobs may draw together while the budget holds; a job that would draw more waits. Not set: none but that of [power.series]."},
		{name: "on_peak", live: true, about: "When budget_kw holds, by the clock of [prices] time_zone: \"always\", times of the day as \"09:00-23:00\" or \"22:00-06:00\", or with weekdays: \"mon-fri 07:00-20:00, sat 08:00-12:00\"."},
		{name: "price", live: true, example: "60", about: "budget_kw holds only while a MWh costs more than this, by the feed of [prices], or by its forecast for hours that have no price yet. Not set: at any price."},
		{name: "mode", live: true, about: "Which jobs start under the budget. \"window\": of the first that wait, those that use most of the machine within its free nodes and the power that is left. \"filter\": of those that policy would start, as many as the power allows."},
		{name: "window", live: true, about: "How many of the first waiting jobs the mode \"window\" chooses from, and how many may have a reservation by reserve_after at once; 1 to 10000."},
		{name: "reserve_after", live: true, about: "A job that has waited as long gets a place at the next time at which no budget holds, and nothing may delay it. \"0s\": none gets one."},
		{name: "learn_job_power", example: "true", about: "Whether the power of jobs that do not state it is taken from what earlier jobs of the same user and name drew, by the CPU time that they used; for plugin = \"process\". Not set: every CPU counts with watts_per_cpu."},
	}
}

func seriesKeys() []entry {
	return []entry{
		{name: "feed", example: `"file"`, about: "\"file\" or \"tariff\", the built-in feeds of prices, or the name of a [[plugin]] of the kind \"price\". What stands there for a price is a number of kilowatts. Not set: there is no series."},
		{name: "config", example: `"/etc/switchyard/prices/response.toml"`, about: "File with the configuration of a built-in feed, as for [prices]."},
		{name: "area", example: `"response"`, about: "The feed's name for the series, its area."},
		{name: "fallback_kw", live: true, example: "400", about: "Kilowatts that running jobs may draw together once the last hour that the feed told has passed. Not set: the last budget that it told goes on to hold."},
		{name: "max_kw", live: true, example: "1000", about: "The most kilowatts that the feed is believed. What it tells is refused as a whole when a budget ahead is more, or below 0, and what it told before goes on to hold. Not set: what all CPUs of the machine draw together."},
	}
}

func slurmKeys() []entry {
	return []entry{
		{name: "conf", example: `"/etc/slurm/slurm.conf"`, about: "Slurm's configuration. Not set: the one that its commands find themselves."},
		{name: "bin_dir", example: `"/opt/slurm/bin"`, about: "Folder of sbatch, squeue and the rest. Not set: the PATH of the peer."},
		{name: "partitions", example: `["batch", "long"]`, about: "The partitions that may get jobs, the preferred first. Not set: the default partition."},
		{name: "spool", example: `"/shared/switchyard/spool"`, about: "Folder for the jobs' files. The compute nodes must reach it by the same path. Not set: slurm in state_dir, which is right only if that is shared."},
		{name: "poll_interval", about: "Time between two looks at the queue."},
		{name: "jobcomp_log", example: `"/var/log/slurm/jobcomp.log"`, about: "The file that JobCompType=jobcomp/filetxt writes. Not set: Slurm is asked where it is."},
		{name: "sbatch_args", example: `["--account=grid", "--qos=grid"]`, about: "Options added to every sbatch."},
		{name: "node_exporter", example: `"http://{node}:9100/metrics"`, about: "Where the metrics of a compute node are read, in Prometheus' text format, while a job runs on it: a URL, or the absolute path of a file. {node} stands for the node's name. Energy, and on nodes that jobs have to themselves more, is learnt from it. Not set: only Slurm's accounting tells of it."},
		{name: "reservations", example: "true", about: "Whether room may be held for parts of applications that start together, by reservations in Slurm. The peer's account must be an operator of Slurm, or root. Not set: none is held here."},
	}
}

func pluginKeys() []entry {
	return []entry{
		{name: "name", required: true, example: `"cheapest"`, about: "By which the other tables name the plugin."},
		{name: "kind", required: true, example: `"policy"`, about: "\"policy\", \"localsched\" or \"price\"."},
		{name: "path", required: true, example: `"/usr/lib/switchyard/plugins/cheapest"`, about: "The plugin's executable file."},
		{name: "args", example: `["--verbose"]`, about: "Its arguments. Not set: none."},
		{name: "sha256", example: `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`, about: "SHA-256 of the file, as sha256sum prints it; another file is not started. Not set: any file is."},
		{name: "mtls", about: "Whether peer and plugin talk over TLS with certificates made for each start. false is for plugins whose language cannot, such as the Python example; they are pinned, and reached over a socket that only the peer's account can open."},
		{name: "config", example: `"/etc/switchyard/plugins/cheapest.toml"`, about: "File with the plugin's own configuration, in TOML, in another folder than the peer's. Not set: it gets none."},
		{name: "start_timeout", about: "How long the plugin may take until it answers."},
		{name: "call_timeout", about: "How long it may take for one call; a policy at most 50s."},
	}
}

func accountKeys() []entry {
	return []entry{
		{name: "users", about: "Who may run jobs besides those in local. \"same\": every user, as the account of the same name. \"listed\": nobody."},
		{name: "local", example: `{ root = "nobody" }`, about: "Accounts of single users. Jobs that root submits are refused unless it is here."},
	}
}

func partnerKeys() []entry {
	return []entry{
		{name: "name", required: true, live: true, example: `"south"`, about: "The partner's name, as in its own [site]."},
		{name: "public_key", live: true, example: `"UB3AOV7WTGXIUCE46224XH5OQQN3QCFCZVLDIPKZHTRYU3HWK27LJZZQ"`, about: "The partner's public key, which \"switchyard keygen\" prints there. This or public_key_file must be set."},
		{name: "public_key_file", live: true, example: `"/etc/switchyard/south.pub"`, about: "File with the partner's public key, the .pub file that \"switchyard keygen\" writes there."},
		{name: "url", live: true, example: `"nats://switchyard.south.example.org:7501"`, about: "Where the partner's NATS server is. Not set: the partner connects to this site."},
		{name: "max_jobs", live: true, example: "100", about: "How many of its jobs may be here at once. Not set: none."},
		{name: "max_cpus", live: true, example: "32", about: "How many CPUs its jobs may use here at once. Not set: any number."},
		{name: "users", live: true, example: `{ alice = "guest1", "*" = "gridguest" }`, about: "Its users and the accounts of this machine that run their jobs; \"*\" is everybody else. Who is not here is refused."},
		{name: "latency", live: true, example: `"20ms"`, about: "Time that a message takes to it. With bandwidth, policies know how long a job's data (submit --stage-in-size) take to get there."},
		{name: "bandwidth", live: true, example: `"125MB/s"`, about: "Bandwidth of the link to it: a number and kB/s, MB/s, GB/s, kbit/s, Mbit/s or Gbit/s (powers of 1000). Not set: data take no time."},
		{name: "per_gb", live: true, example: "0.01", about: "What a GB (10⁹ bytes) over the link costs this site, either way: its part of K_d. Not set: nothing."},
		{name: "per_hour", live: true, example: "0.5", about: "What an hour costs in which data travel over the link. Not set: nothing."},
	}
}
