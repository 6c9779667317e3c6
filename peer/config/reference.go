package config

// section describes a table of the configuration.
type section struct {
	name     string // "site", "policy.tc"
	array    bool   // [[name]]
	rows     bool   // its keys are names that the user chooses; the only entry is an example
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
func reference() []section { //nolint:funlen // one line for each table
	sections := []section{
		{name: "site", about: "Identity of this site, and where its peer stores its files.", keys: siteKeys()},
		{name: "nats", about: "Connections to partners. The peer runs its own NATS server, to which partners connect (listen), and connects to the servers of its partners. Of two partners only one needs a reachable server. A large grid may use one external NATS system instead (url).", keys: natsKeys()},
		{name: "transfer", about: "Transfer of files between this site and its partners. Files move over direct connections to the port of [nats] listen, in parallel and encrypted, whichever of the two sites can connect to the other. If neither can, as with [nats] url, they move in small chunks over NATS, which is slow over long distances.", keys: []entry{
			{name: "streams", about: "Maximum number of connections over which this site fetches files from one partner at the same time, 0 to 16. 0: it fetches them in chunks over NATS."},
			{name: "max_rate", example: `"500MB/s"`, about: "Maximum rate at which this site sends files to all partners together, and at which it fetches them: a number and kB/s, MB/s, GB/s, kbit/s, Mbit/s or Gbit/s, at least 1MB/s. If unset, there is no limit."},
		}},
		{name: "gossip", optional: true, about: "Exchange of load data between sites, so that a round asks the most suitable sites first. Without this table there is no gossip; a few sites do not need it.", keys: gossipKeys()},
		{name: "localsched", about: "The local scheduler of this site and the machine that it manages.", keys: localSchedKeys()},
		{name: "localsched.slurm", optional: true, about: "The commands of Slurm, for plugin = \"slurm\". docs/slurm.md lists the settings that Slurm needs.", keys: slurmKeys()},
		{name: "localsched.devices", rows: true, optional: true, about: deviceTableAbout, keys: []entry{
			{name: "gpu", example: `{ type = "a100", files = ["/dev/nvidia0", "/dev/nvidia1"] }`, about: deviceAbout},
		}},
		{name: "localsched.bgp", optional: true, about: "The partitions of the machine, for machine = \"bgp\". docs/power.md describes the file.", keys: bgpKeys()},
		{name: "localsched.cpu_model", optional: true, about: "A CPU of the machine in the Γ model, for the policy iss. With it the run times of components are predicted from their behavior. docs/cost-model.md explains the model; \"switchyard benchmark\" measures this computer.", keys: gammaKeys()},
		{name: "tariff", about: "What this site charges if a CPU has the same price at all times. Quotes then carry a price, which policies may use. [cost] has more terms, and excludes this table.", keys: []entry{
			{name: "cpu_hour", example: "0.04", about: "Price of one CPU for one hour, with up to six decimals. If unset, CPUs are free."},
			{name: "currency", example: `"EUR"`, about: "Currency of cpu_hour, in three capital letters. If unset, quotes carry no prices."},
		}},
		{name: "power", about: "Power draw of the machine; with [prices], quotes of this site then carry the electricity cost of a job. The table also sets a power budget, which limits the total power draw of running jobs, local jobs and guests alike. docs/power.md explains it.", keys: powerKeys()},
		{name: "power.series", about: "A power budget that changes every hour, from a supplier or a demand response program. In hours without a value only budget_kw applies; if both apply, the lower one counts. After the last hour the last budget stays active, and \"switchyard status\" shows an alarm.", keys: seriesKeys()},
		{name: "prices", about: "Where this site buys its electricity, and the feed of its prices. Without prices the site continues to schedule: its quotes then carry no electricity cost, and \"switchyard sites\" shows the reason. docs/prices.md explains feeds and their files.", keys: priceKeys()},
	}
	sections = append(sections, costSections()...)
	sections = append(sections, roundSections()...)
	sections = append(sections, []section{
		{name: "guest_limits", about: "When this site declines jobs of partners to protect its local users. The partner receives the reason.", keys: []entry{
			{name: "max_owner_delay", example: `"10m"`, about: "Longest predicted delay of a pending job of a local user that a guest may cause. It applies only to local schedulers that can predict delays. If unset, delays are ignored."},
			{name: "max_cpu_share", example: "0.4", about: "Largest share of the CPUs that guests may have or wait for together, above 0, at most 1. If unset, there is no limit."},
		}},
		{name: "submit", about: "Handling of jobs that are submitted at this site.", keys: []entry{
			{name: "export_remote", about: "Variables of the submitter's environment that are sent with a job to another site, in addition to those that the user names (--export, --export-remote): names, or prefixes that end in a star. At this site a job gets the whole environment. A prefix excludes variables that look secret, such as those with TOKEN or PASSWORD in their names; only their full names include them."},
		}},
	}...)
	sections = append(sections, limitSections()...)
	sections = append(sections, []section{
		{name: "results", about: "Output of jobs of this site that ran at partners.", keys: []entry{
			{name: "max_output", about: "Maximum total size of the output files of one job, holes included. A job with more keeps its final state, but its output is not fetched, and its reason says so."},
			{name: "max_kept", about: "Maximum disk space of the directory kept in state_dir. It has output that could not be written to the place that the user named. Archives of files that come back (--stage-out) are counted apart, and may take as much again. The oldest files are deleted first; the newest always stays."},
			{name: "keep_for", about: "How long files stay in that directory."},
		}},
	}...)
	sections = append(sections, messageSections()...)
	return append(sections, []section{
		{name: "staging", about: "Files that travel with jobs to other sites and back (submit --stage-in, --stage-out).", keys: stagingKeys()},
		{name: "retention", about: "How long the peer keeps data that no job needs. It checks every hour; the database file shrinks when more than half of it is free.", keys: []entry{
			{name: "finished_jobs", about: "How long after its end a finished job is listed and \"switchyard status\" shows it. \"switchyard history\", \"usage\" and \"statement\" need the jobs of the periods that they are asked about."},
			{name: "max_finished_jobs", about: "Maximum number of finished jobs that are kept; the jobs that ended first are deleted first."},
			{name: "finished_guests", about: "The same for jobs of other sites that ran at this one."},
			{name: "max_finished_guests", about: "Maximum number of such jobs that are kept."},
			{name: "events", about: "How long \"switchyard explain\" shows the events of a job; at most as long as the job is kept."},
			{name: "requeueable", about: "How long after its end a job of this site can be requeued, with \"switchyard requeue\" or \"scontrol requeue\"; for so long its script is kept. Slurm has MinJobAge for this. 0s to 7d; 0s: no job that has ended can be."},
			{name: "max_requeueable", about: "Maximum number of jobs that have ended and can be requeued; those that ended first are dropped first. An array has one for each of its elements. 1 to 100000."},
			{name: "max_requeueable_bytes", about: "Maximum size of their scripts, arguments and environments together, with those of an array counted once; those that ended first are dropped first."},
		}},
		{name: "accounts", about: "The account of this machine that runs the jobs of each local user. No job ever runs as root. A peer that does not run as root can start jobs only as its own account.", keys: accountKeys()},
		{name: associationSection, array: true, optional: true, about: "What the account, partition and QOS (submit -A, -p, -q) of a job mean at this site; one table for each case. The first table counts that matches a job and has something to say about each of the three that the job asks for. A job that asks for one and that no table is for is refused; one that asks for none gets the site's defaults. If no table is for its origin, its account and partition have no effect, and the user is notified; a job with a QOS is then refused unless [cost] qos_factors has that. Patterns are whole names in which * stands for any characters and ? for one.", keys: associationKeys()},
		{name: "api", about: "What users may see and do, at the socket and over TCP.", keys: apiKeys()},
		{name: "api.client", array: true, optional: true, about: "A certificate with which a client uses the API over TCP as a user of the site, without a token; one table for each. An authority of client_ca_file must have issued it for clients. A certificate that no table is for is refused. Authorities' lists of revoked certificates are not read: remove the table instead, and restart the peer.", keys: []entry{
			{name: "certificate", required: true, example: `"dns:portal.example.org"`, about: "Name of the certificate, the whole of it: one of its alternative names as \"dns:NAME\", \"email:ADDRESS\" or \"uri:URI\", or its subject as \"subject:CN=portal,O=Example\"."},
			{name: "user", required: true, example: `"portal"`, about: "User of this site for whom the client acts."},
			{name: "scopes", required: true, example: `["read"]`, about: "What the client may do, as with tokens: \"read\", \"submit\", and for administrators \"operate\"."},
		}},
		{name: "api.oidc", array: true, optional: true, about: "An issuer of OpenID Connect whose access tokens are taken by the API over TCP beside the site's own tokens; one table for each issuer. They must be JSON web tokens (RFC 9068) that are signed with a key pair; the keys are fetched by the issuer's discovery document. Nothing is asked about single tokens: one is good until it ends, also if the issuer takes it back.", keys: []entry{
			{name: "name", required: true, example: `"hpc"`, about: "Name of the issuer, of lower-case letters, digits and hyphens. Logs have the subject of its tokens as oidc:NAME:SUBJECT, and the page to sign in shows it."},
			{name: "issuer", required: true, example: `"https://login.example.org/realms/hpc"`, about: "URL of the issuer, as its tokens have it in the claim iss; its discovery document is below it."},
			{name: "audience", required: true, example: `"switchyard"`, about: "What tokens for this site have in the claim aud. Others, such as those for another service of the same issuer, are refused."},
			{name: "ca_file", example: `"/etc/switchyard/issuer-ca.pem"`, about: "File with the certificates of the authorities, in PEM, that are trusted for the issuer. It is read at the start. If unset, those of the machine."},
			{name: "user_claim", about: "Claim with the name of the user of this site, for tables [[api.oidc.user]] without user."},
			{name: "groups_claim", about: "Claim with the groups of the user: a list, or a text, which is one group."},
			{name: "scopes_claim", about: "Claim with the scopes of the token: a list, or names with spaces between."},
			{name: "sign_in_client", example: `"switchyard-pages"`, about: "ID of this site as a client of the issuer, with which people sign in to the pages for browsers (authorization code flow with PKCE). Register https://HOST:PORT/sign-in/NAME/callback there, with the name of this table, for each host and port by which browsers reach the pages. If unset, there is no signing in at the issuer."},
			{name: "sign_in_secret_file", example: `"/etc/switchyard/hpc.secret"`, about: "File with the secret of the client. Only its owner may read it; it is read for each sign-in. If unset, the client is public and has no secret."},
			{name: "sign_in_scopes", about: "Scopes that the issuer is asked for, besides openid, so that ID tokens have the claims that tables [[api.oidc.user]] look at."},
			{name: "sign_in_session", about: "How long a session lasts that began at the issuer, at most \"12h\". The end of the ID token, often a few minutes away, does not end it; other tables [[api.oidc.user]] do at once."},
		}},
		{name: oidcUserSection, array: true, optional: true, about: "For which user of the site a token of the issuer stands, whose table [[api.oidc]] is the last one above, and what it may do; one table for each case. The first table counts of which all of subject, email, group and scope that it has hold. A token that no table is for is refused.", keys: []entry{
			{name: "subject", live: true, example: `"248289761001"`, about: "The claim sub of the token."},
			{name: "email", live: true, example: `"ada@example.org"`, about: "The claim email of the token, which must have email_verified."},
			{name: "group", live: true, example: `"hpc-users"`, about: "One of the user's groups."},
			{name: "scope", live: true, example: `"switchyard.submit"`, about: "One of the token's scopes."},
			{name: "user", live: true, example: `"ada"`, about: "User of this site for whom the token acts. If unset, the one that user_claim names, but never root or the peer's account."},
			{name: "scopes", required: true, live: true, example: `["read", "submit"]`, about: "What the token may do, as with tokens of the site: \"read\", \"submit\", and for administrators \"operate\"."},
		}},
		{name: "metrics", about: "Prometheus metrics and health checks for monitoring.", keys: []entry{
			{name: "listen", about: "Host and port of the HTTP server for metrics. If empty, there is no such server."},
		}},
		{name: "log", about: "Messages that the peer writes to standard error.", keys: []entry{
			{name: "level", live: true, about: "Lowest level of the messages that are written: \"debug\", \"info\", \"warn\" or \"error\"."},
			{name: "format", about: "\"json\" for programs, \"text\" for people."},
		}},
		{name: "audit", about: "A log of who changed what at this site, by the socket, over TCP or by a reload, of calls that were denied, and of what partners did, in JSON lines (docs/operations.md).", keys: auditKeys()},
		{name: "plugin", array: true, optional: true, about: "A plugin: a program that this peer starts, supervises and calls; one table for each plugin. docs/plugins.md explains how to write one. It runs as the peer's account, so it must be as trustworthy as the peer.", keys: pluginKeys()},
		{name: "roster", optional: true, about: "A signed list of the sites of the grid, with their keys and URLs. A site of it is a partner if accept names it, or if a [[partner]] table of its name has no key: the table then gets keys and URL from the roster. docs/operations.md explains it.", keys: []entry{
			{name: "file", live: true, example: `"/etc/switchyard/grid.roster"`, about: "File of the roster, as \"switchyard roster sign\" writes it. It is read at the start and by \"switchyard reload\". If unset, there is no roster."},
			{name: "public_keys", live: true, example: `["UCSL7X3DUXIOMQGWCKNHFTQ6QE5Y3BYMZSP5CQUK5E6ZILYKGAVP75AR"]`, about: "Public keys of those who sign the roster; one signature counts. Required with file."},
			{name: "accept", live: true, example: `["south", "east"]`, about: "Sites of the roster that are partners without a table of their own; \"*\" stands for all. If unset, none."},
			{name: "max_jobs", live: true, example: "100", about: "Maximum number of jobs at this site at once of each site that accept makes a partner. If unset, none."},
			{name: "users", live: true, example: `{ "*" = "gridguest" }`, about: "Users of each site that accept makes a partner, as users of [[partner]]."},
		}},
		{name: "partner", array: true, optional: true, about: "A site to exchange jobs with; one table for each partner. The partner must configure this site too. Jobs of a partner run here only if max_jobs and users allow it.", keys: partnerKeys()},
	}...)
}

// messageSections are what the peer sends to users and programs about jobs.
func messageSections() []section {
	return []section{
		{name: "mail", optional: true, about: "Mail to users of this site about their jobs (submit --mail-type). Without this table none is sent, and \"switchyard submit\" says so. A mail that cannot be handed to the command is logged (mail_failed) and not repeated.", keys: []entry{
			{name: "command", about: "Command that gets each mail, with its headers, on standard input; first word: an absolute path. It runs as the peer's account, one mail at a time, for at most a minute. A command of your own can pass the mail on to something else: the variables SWITCHYARD_JOB_ID, SWITCHYARD_JOB_NAME, SWITCHYARD_JOB_USER, SWITCHYARD_JOB_STATE and SWITCHYARD_MAIL_TYPE say what it is about."},
			{name: "from", example: `"switchyard@north.example.org"`, about: "Sender address. If unset, that of the command."},
		}},
		{name: "notify", optional: true, about: "Programs that are notified when a job that was submitted at this site changes its state. Without this table none is. Each gets one JSON document for each change, in order: site, at_ms, from (the state before; none: the job is new) and job, as \"switchyard status --json\" prints it. A notice is tried five times within half a minute; up to 1000 wait, further ones are dropped. switchyard_notices_total counts the results.", keys: []entry{
			{name: "command", example: `["/usr/local/bin/on-job-change"]`, about: "Command that gets each notice on standard input; first word: an absolute path. It runs as the peer's account, for at most 20 seconds. If unset, none is run."},
			{name: "url", example: `"https://chat.example.org/hooks/switchyard"`, about: "URL that gets each notice as the body of a POST; https, or http on this machine. An answer 4xx other than 408 and 429, or a redirect, is not tried again. If unset, nothing is posted."},
			{name: "token", example: `"/etc/switchyard/notify.token"`, about: "File with a token that is sent to the URL as \"Authorization: Bearer\". Only its owner may read it; it is read for each notice. If unset, none is sent."},
		}},
		{name: "tracing", optional: true, about: "Export of the spans of jobs to OpenTelemetry. Without this table none are made. A job's spans at this site are sent when it has ended, or when it has left as a guest; up to 1000 jobs wait, further ones are dropped. Set endpoint or file. Changes need a restart. switchyard_traces_total counts the results.", keys: []entry{
			{name: "endpoint", example: `"https://collector.example.org:4318"`, about: "URL of a collector of OTLP over HTTP; https, or http on this machine. Without a path, /v1/traces. A batch that the collector does not take is tried for 40 seconds."},
			{name: "ca", example: `"/etc/switchyard/collector-ca.pem"`, about: "File with the certificates of the authorities that endpoint is checked with, in PEM. If unset, those of the system."},
			{name: "headers", example: `"/etc/switchyard/collector.headers"`, about: "File with headers that are sent to endpoint, as lines \"Name: value\". Only its owner may read it; it is read for each request. If unset, none are sent."},
			{name: "file", example: `"/var/log/switchyard/spans.jsonl"`, about: "File to which spans are appended, as lines of OTLP/JSON, in place of endpoint. It is opened for each line, so that it can be rotated at any time."},
		}},
	}
}

func siteKeys() []entry {
	return []entry{
		{name: "name", required: true, example: `"north"`, about: "Name of the site: 1 to 32 lower case letters, digits and hyphens, starting with a letter. It must be unique in the grid."},
		{name: "number", required: true, example: "1", about: "Number of the site, 1 to 9000. The IDs of its jobs start with it. It must be unique in the grid."},
		{name: "state_dir", about: "Directory of the peer's database and of the jobs' files. It must be on a local disk."},
		{name: "key", live: true, about: "File of the site's secret key, with mode 0600. \"switchyard keygen --out PATH\" creates it, and PATH.pub for the partners. docs/operations.md explains how it is replaced while the peer runs."},
		{name: "socket", about: "Socket of the peer, to which the commands connect; at most 103 characters."},
		{name: "machine", example: `"north-pair"`, about: "Name of the machine, for a state_dir that moves between computers on purpose, such as that of a failover pair: both computers set the same name. If unset, /etc/machine-id and the inode of state_dir identify the machine; a peer with a copied or moved state_dir then starts no jobs until an operator runs \"switchyard recover\"."},
		{name: "seed", about: "Seed of all random choices of the peer, such as the jitter of its pauses. The site number is mixed in, so all sites may use the same seed."},
		{name: "currency", example: `"CHF"`, about: "Currency of [cost], [[waiting_cost]], the links of [[partner]] and the limits of local users. If unset, that of [tariff]."},
	}
}

func natsKeys() []entry {
	return []entry{
		{name: "listen", about: "Host and port of the peer's own NATS server; partners must be able to connect to it. If empty, there is no server, and this site connects to all its partners. Excludes url."},
		{name: "url", example: `"nats://nats1.example.org:4222,nats://nats2.example.org:4222"`, about: "Servers of an external NATS system that all sites of the grid use instead of their own servers."},
		{name: "creds", example: `"/etc/switchyard/nats.creds"`, about: "File with the credentials for url. At most one of creds, nkey and token may be set."},
		{name: "nkey", example: `"/etc/switchyard/nats.nkey"`, about: "File with the nkey seed for url."},
		{name: "token", example: `"/etc/switchyard/nats.token"`, about: "File with the token for url."},
		{name: "ca", example: `"/etc/switchyard/nats-ca.pem"`, about: "File with the CA certificates that must have signed those of the servers of url. If unset, the CA certificates of the system."},
	}
}

func gossipKeys() []entry {
	return []entry{
		{name: "bind", about: "IP address and port to listen on, for both UDP and TCP."},
		{name: "advertise", example: `"192.0.2.7:7601"`, about: "IP address and port at which the other sites reach this one. Required if bind is a wildcard address (0.0.0.0). If unset, that of bind."},
		{name: "join", example: `["gossip.south.example.org:7601"]`, about: "Host and port of sites to contact first. Two or three are enough; they report the other sites."},
		{name: "keyring", required: true, example: `"/etc/switchyard/gossip.keys"`, about: "File with the keys that encrypt the gossip, with mode 0600 and the same at all sites: one base64 key on each line. The first key encrypts, all keys decrypt. \"switchyard keygen --gossip PATH\" creates a key."},
		{name: "announce_interval", about: "Time between two announcements of this site's load while the load does not change."},
		{name: "rejoin_interval", about: "Time between two attempts to reach sites that are down; the first attempts follow each other faster."},
	}
}

func localSchedKeys() []entry {
	return []entry{
		{name: "plugin", about: "The local scheduler. \"process\" is the built-in one, which runs jobs on this computer. \"slurm\" is the Slurm of this site. Any other value is the name of a [[plugin]] of the kind \"localsched\". All keys below except mhz, mflops, wait_prediction, container_command and max_output apply to \"process\" only."},
		{name: "machine", about: "\"per-cpu\": jobs share nodes. \"whole-node\": a node runs one job at a time. \"bgp\": a job runs in a partition, as on Blue Gene/P; see [localsched.bgp]."},
		{name: "cpus", example: "64", about: "CPUs of the whole machine. If unset, the CPUs of this computer."},
		{name: "nodes", about: "Nodes of the whole machine. All have the same number of CPUs, so the number divides cpus. With machine = \"bgp\" it comes from the partitions."},
		{name: "memory", example: `"256GB"`, about: "Memory of a node. Jobs that ask for more run at other sites. If unset, memory is ignored."},
		{name: "mhz", example: "2400", about: "Speed of a CPU. Time limits of jobs are scaled by it between sites of different speed. If unset, time limits are not scaled."},
		{name: "mflops", example: "4400", about: "Speed of a CPU in Mflop/s, measured by a benchmark. Between two sites that both set it, it replaces mhz. If unset, mhz is used."},
		{name: "wait_prediction", about: "How waits are predicted. Quotes have two kinds of waits: the approximate wait time, by which policies place jobs, and a prediction for people: the median (P50), P10, P90 and an upper bound, nominally of 95 % of the jobs. \"auto\" and \"plan\": jobs are placed by the plan of the local scheduler. With \"auto\" the prediction is the one of several estimates (the plan corrected by its errors, past waits of similar jobs, and simple baselines) with the least absolute error in recent jobs; with \"plan\" it is the corrected plan. The other values replace the approximate wait time, too. \"median\" and \"mean\": the plan, corrected to the median or mean of actual waits. \"adaptive\": past waits of similar jobs in similar states of the machine and its queue. \"qbets\": bounds from recent waits alone, for machines whose users set no time limits. \"ibl\": past waits of the most similar jobs. A restart discards this history."},
		{name: "max_wall_time", example: `"7d"`, about: "Maximum time limit of a job. If unset, there is no maximum."},
		{name: "policy", live: true, about: "Order in which pending jobs start. \"easy\" (or \"fcfsbf\"): in order of arrival, with backfilling that does not delay the first job (EASY). \"conservative\": in order of arrival, with backfilling that delays no earlier job. \"fcfs\": in order of arrival, without backfilling. \"firstfit\" (or \"ff\"): each job that fits, in order of arrival. \"sjf\": shortest time limit first, without backfilling. \"sjffit\": each job that fits, shortest time limit first. \"easysjbf\": as easy, with backfilling in order of the time limits. \"multifactor\": as easy, in order of the priorities of [fairshare], which are worked out again every five minutes."},
		{name: "kill_grace", about: "Time between SIGTERM and SIGKILL when a job is ended."},
		{name: "on_stop", about: "What happens to running jobs when the peer stops. \"leave\": they continue, and the peer finds them when it starts again. \"end\": they are ended."},
		{name: "container_command", example: `["/usr/bin/apptainer", "exec", "--bind", "{dir}", "{image}"]`, about: "Command that runs a job submitted with --container; the path of the script and its arguments follow. {image} stands for the image, as the user wrote it, and {dir} for the directory of the job, in which the script is and, for a job of a partner, the working directory. The first word is an absolute path. If unset, the site runs no containers, and no such job is sent to it. For \"process\" and \"slurm\"."},
		{name: "max_processes", about: "Maximum number of processes and threads of a job. It needs cgroups, as does the memory limit of --mem."},
		{name: "cgroup", about: "Where each job gets a control group (cgroup v2 or v1). With it all processes of a job are ended, and their memory and number are limited. \"own\": below the peer's own group. A path in the hierarchies, such as \"/switchyard\": below that group, which is created if necessary. \"none\": no control groups. docs/operations.md lists what the machine must allow. Without it jobs still run, and \"switchyard status\" shows what is missing."},
		{name: "slurm_commands", about: "Whether jobs find Slurm's commands (sbatch, squeue, scancel, scontrol, sinfo, sacct), which then speak to this peer (docs/slurm-commands.md): the peer makes links to its program in the directory slurm-commands of state_dir, which is the last in the PATH of each job. The accounts of jobs must be able to run the program. If false, the peer removes the links."},
		{name: "licenses", example: `{ solver = 4, "mesh@vendor" = 1 }`, about: "Licenses that jobs can use on this machine, by name, and how many of each. Jobs ask for them with --licenses, and wait until enough are free; a site that lacks them declines. [[cost.license]] sets their prices. If unset, there are none."},
		{name: "features", example: `["skylake", "avx512"]`, about: "Features of each node, which jobs ask for with --constraint. Letters, digits and _ . - + = / @ are allowed. If unset, there are none."},
		{name: "max_output", about: "Maximum size of each file that a job of a partner writes, in particular its output. Writes beyond it fail, and output beyond it is not returned. For \"process\" and \"slurm\"."},
	}
}

// What is said of the tables of devices.
const (
	deviceTableAbout = "Devices of each node, such as GPUs, for plugin = \"process\"; one table [localsched.devices.NAME] for each kind. Jobs ask for them with --gres, --gpus and similar options. A job gets the free devices with the lowest indexes, and no other job has them meanwhile. docs/operations.md lists the variables in which a job finds them, and what keeps it from the others. Only a machine with one node can have devices."
	deviceAbout      = "The devices of this name. type: what jobs may write behind the name, as in --gres=gpu:a100; a job that names no type gets the one of which the node has most. files: the device files, in the order of their indexes. count: the number of devices, instead of files, if they have none. first_index: index of the first device; if unset, 0, and /dev/nvidia0, /dev/nvidia1 and so on have the indexes in their names. resource: the name that jobs use, if it is not NAME; two types of GPUs need two tables, and the second one sets resource = \"gpu\"."
)

func roundSections() []section {
	return []section{
		{name: "policy", about: "How a round places jobs.", keys: []entry{
			{name: "name", live: true, about: "\"tc\": least approximate turnaround time (wait + run time). \"mcmf\": in cycles, all jobs at once by a min-cost max-flow over response time and electricity cost. \"inst\" and \"twoprice\": as mcmf, for comparison, without waits or with two prices a day. \"iss\": for applications; each component is placed where a cost function of CPU use, licenses, energy, waiting and data is least within its user's limits. \"stable\": in cycles, by stable matching: jobs prefer short response times, sites prefer low costs. \"random\": at a random site, for comparison. \"local\": at the local site. Any other value is the name of a [[plugin]] of the kind \"policy\"."},
			{name: "fallback", about: "The built-in policy that decides while a plugin cannot, because it hangs, crashed or returned invalid output."},
		}},
		{name: "policy.tc", about: "Parameters of the policy tc.", keys: []entry{
			{name: "turnaround_tolerance", live: true, about: "ε: among sites whose turnaround time is within this of the least, the site with the lowest utilization gets the job."},
		}},
		{name: "policy.mcmf", about: "Parameters of the policies mcmf, inst and twoprice.", keys: []entry{
			{name: "normalise", live: true, about: "How time and money are compared. \"round\": by weight, after the range of response times and the range of costs of a cycle are scaled to the same length. \"price\": an hour of a job is worth delay_price."},
			{name: "weight", live: true, about: "w: share of the response time in the cost of a placement, from 0 to 1; the rest is the electricity cost. For \"round\" only."},
			{name: "delay_price", live: true, about: "Value of one hour of earlier completion of a job, in the currency of the site. With 0, all jobs run where electricity is cheapest. For \"price\" only."},
			{name: "cost_steps", live: true, about: "Number of steps between the least and the greatest cost of a cycle; 1 to 1000000. More steps distinguish smaller differences."},
			{name: "marginal_jobs", live: true, example: "4", about: "Number of jobs of a cycle, 2 to 64, for which sites quote the marginal wait. With it jobs are distributed before a site is full. If unset, only max_jobs_per_cycle limits the jobs that a site gets."},
		}},
		{name: "policy.iss", about: "Parameters of the policy iss.", keys: []entry{
			{name: "max_gap", live: true, about: "Largest distance of the cost of a decision from the least possible cost, as a share of it from 0 to 1. It applies after a sixteenth of max_search_nodes; a search that ends earlier returns the least cost."},
			{name: "max_search_nodes", live: true, about: "Number of steps after which the search for one application ends with the best result so far; 1 to 1000000000. A million steps take about a twentieth of a second."},
			{name: "paper_objective", live: true, example: "true", about: "Whether the waiting cost counts for each component as well as for the application, as in the printed formula of the ISS paper."},
		}},
		{name: "rounds", about: "When a round starts, and which sites it asks for quotes.", keys: []entry{
			{name: "initiation", live: true, about: "What opens a round. \"sender\": the site that has a job to place asks its partners. \"receiver\": the job stays pending until a partner volunteers, and only volunteers are asked; partners volunteer under receiver and symmetric. \"symmetric\": volunteers are asked if there are any, else all partners. \"cycle\": all jobs of the grid queue are placed together once in each cycle. For a job that the local site cannot run, all partners are always asked. If unset, \"cycle\" with a built-in policy other than tc and local, else \"sender\"."},
			{name: "cycle_interval", live: true, about: "Time between two rounds under the initiation cycle, and the period of max_jobs_per_cycle."},
			{name: "max_jobs_per_cycle", live: true, example: "2", about: "MaxQ: maximum number of jobs that this site takes in a cycle from all sites together, with any initiation. If unset, there is no maximum."},
			{name: "local_wait_threshold", live: true, about: "φ: a job with a shorter wait at the local site stays there, and no partner is asked."},
			{name: "check_interval", live: true, about: "σ: time between two checks of an unresponsive partner, and between two rounds for a job that found no site. Under receiver and symmetric it is also the time between two checks of this site's utilization, after which it may volunteer, and of the waits of jobs that are pending until a partner volunteers. A volunteer stays valid for the same time."},
			{name: "volunteer_below", live: true, about: "δ: the site volunteers while the share of its CPUs that run jobs is lower than this; above 0, at most 1."},
			{name: "recheck_jobs", live: true, example: "10", about: "Number of jobs, from the head of the queue, whose local wait is checked again every check_interval while they are pending until a partner volunteers. If unset, all."},
			{name: "jobs_per_volunteer", live: true, example: "1", about: "Maximum number of jobs that one volunteer brings into rounds. If unset, there is no maximum."},
			{name: "stay_local", live: true, example: "true", about: "Under symmetric: whether a job stays at the local site if no volunteer was better, without a round with the other partners. If unset, the other partners are asked."},
			{name: "quote_timeout", live: true, about: "How long a round waits for quotes; less than check_interval. A partner that misses the timeout is excluded until its next message."},
			{name: "round_jobs", live: true, about: "Maximum number of jobs in a round."},
			{name: "partners_per_round", live: true, about: "Maximum number of partners that a round asks: those that rank first by gossip."},
		}},
		{name: "moves", about: "Jobs of this site that wait in a local queue, here or at a partner, are placed again if another site would end them sooner. A job that has started stays where it is. docs/operations.md explains it.", keys: []entry{
			{name: "enabled", live: true, example: "true", about: "Whether jobs are placed again. If unset, they stay where they are placed."},
			{name: "interval", live: true, about: "Time between two trials. In each, the other sites quote jobs that wait at one site."},
			{name: "jobs", live: true, about: "Maximum number of jobs in a trial."},
			{name: "min_gain", live: true, about: "A job moves only if it then ends sooner by more than this."},
			{name: "min_gain_share", live: true, about: "A job moves only if it then ends sooner by more than this share of the time until its planned end; 0 to 1."},
			{name: "max_wait", live: true, about: "A job moves only to a site where it waits no longer than this. Other sites quote for the end of their queues, where later jobs may overtake it."},
			{name: "min_pause", live: true, about: "Minimum time between two moves of a job."},
			{name: "max_moves", live: true, about: "Maximum number of moves of a job."},
		}},
		{name: "handoff", about: "Timeouts and retries of hand-offs. The defaults suit links of any latency on Earth.", keys: []entry{
			{name: "retry_initial", about: "Time until the first retry of an unanswered message. It doubles with each retry."},
			{name: "retry_max", about: "Maximum time between two retries."},
			{name: "submit_recheck_delay", about: "Time after an ambiguous submission until the local scheduler's answer that it does not have the job is accepted."},
			{name: "start_margin", about: "Time that is added to the longest quoted wait of a co-allocation group, for the reservations at all its sites."},
			{name: "reclaim_after", about: "How long a partner must be unreachable before jobs submitted with --requeue are reclaimed. Other jobs stay with the partner."},
			{name: "tombstone_ttl", about: "How long closed hand-offs are kept to recognize late messages; longer than any partner is ever unreachable."},
			{name: "planned_starts_interval", about: "How often the batch system is asked when it plans to start the jobs that wait in its queue; the origins of guests get the answers."},
		}},
	}
}

func priceKeys() []entry {
	return []entry{
		{name: "area", example: `"DE-LU"`, about: "The price area, as the feed names it; \"switchyard prices\" and \"switchyard plugin info\" list the areas. If unset, no prices are requested."},
		{name: "feed", example: `"file"`, about: "\"file\": files of prices, read again when they change. \"tariff\": a contract with fixed or time-of-use prices. Any other value is the name of a [[plugin]] of the kind \"price\"."},
		{name: "config", example: `"/etc/switchyard/prices/north.toml"`, about: "File with the configuration of a built-in feed, in TOML, in another directory than the peer's configuration. The configuration of a plugin is set in its [[plugin]]."},
		{name: "horizon", about: "How far ahead prices are needed, 1h to 31d. Prices that are not published yet are forecast. Later times cost the mean."},
		{name: "refresh_interval", about: "Time between two requests to the feed. After a failed request the next one follows within check_interval."},
		{name: "history", about: "Length of the price history that is requested for the forecasts. 1d to 100d."},
		{name: "forecast", about: "How prices that are not published yet are forecast. \"yesterday\": the same hour of the previous day. \"blend\": 0.6 of that, and 0.4 of the same weekday of the previous week. \"mean\": the mean of the hour on the three previous days. \"flat\": the mean of the three previous days. \"sarima\": a seasonal model of the last 72 hours; another order is written as \"(1,0,1)(1,0,1)24\". \"auto\": the one of the first four that fits the history best."},
		{name: "time_zone", about: "Time zone of the site, a name in the IANA database such as \"Europe/Berlin\". It sets when days begin, for forecasts and on-peak hours."},
	}
}

func auditKeys() []entry {
	return []entry{
		{name: "enabled", about: "Whether it is kept."},
		{name: "file", example: `"/var/log/switchyard/audit.jsonl"`, about: "Its file, in a directory that the peer's account may write. If unset, audit.jsonl in state_dir."},
		{name: "max_size", about: "Size from which on the file is set aside as FILE.1, and a new one is begun."},
		{name: "files", about: "Number of files that are kept, with the present one. The oldest is deleted when a file is set aside."},
	}
}

func stagingKeys() []entry {
	return []entry{
		{name: "max_bytes", about: "Maximum size, as an archive, of the files that come with one job of a partner to this site, of those that go back with it, and of those that go and come back with a job of this site. submit refuses a job with larger files, unless --sites keeps it here. This site does not quote for a job whose files are larger. 0: no files travel. Files come only with jobs for the local schedulers \"process\" and \"slurm\", without a power budget in front of the latter."},
		{name: "max_user_bytes", live: true, example: `"50GB"`, about: "Maximum total size, as archives, of the files of one user that are at this site for jobs or on their way to it. Files of a partner's user count from the offer of a job until its site has the results, with those; a job whose files would be too many gets no quote and is refused meanwhile. Results of a local user's jobs come home one after the other if they are too many at once. Files that go out with them count apart, and are packed one job after the other if they are too many. If unset, there is no limit."},
	}
}

func bgpKeys() []entry {
	return []entry{
		{name: "partitions", required: true, example: `"intrepid"`, about: "\"intrepid\": the 1467 partitions of the Blue Gene/P of Argonne. \"racks 2x8\": those of 2 rows of 8 racks, generated by the same rules. Any other value is the path of a file of partitions, plain or compressed with gzip."},
		{name: "smallest", about: "Nodes of the smallest partition that is used; jobs that need fewer nodes get one of these."},
		{name: "mesh", about: "Whether jobs may also get mesh partitions, whose loops are not closed. With false, only torus partitions are used."},
	}
}

func powerKeys() []entry {
	return []entry{
		{name: "watts_per_cpu", example: "30.588624", about: "Power draw of a busy CPU, with its share of all other components, with up to six decimals; quotes use three. If unset, quotes carry no electricity cost, and a budget is not possible."},
		{name: "idle_watts_per_cpu", live: true, example: "12.4", about: "Power draw of a CPU that is allocated to a job and idle, because nodes or partitions are allocated as a whole. If unset, 0."},
		{name: "budget_kw", live: true, example: "12.5", about: "Maximum total power draw of running jobs in kilowatts while the budget applies; a job that would exceed it stays pending. If unset, only the budget of [power.series] applies."},
		{name: "on_peak", live: true, about: "When budget_kw applies, in [prices] time_zone: \"always\", times of the day such as \"09:00-23:00\" or \"22:00-06:00\", or with weekdays: \"mon-fri 07:00-20:00, sat 08:00-12:00\"."},
		{name: "price", live: true, example: "60", about: "budget_kw applies only while the price of a MWh is above this. The price comes from the feed of [prices], or from its forecast for hours that have no price yet. If unset, budget_kw applies at any price."},
		{name: "mode", live: true, about: "Which jobs start under the budget. \"window\": of the first pending jobs, those that use most of the machine within its free nodes and the remaining power. \"filter\": of the jobs that policy would start, as many as the remaining power allows."},
		{name: "window", live: true, about: "Number of first pending jobs that the mode \"window\" selects from, and maximum number of reservations by reserve_after; 1 to 10000."},
		{name: "reserve_after", live: true, about: "A job that has been pending for this time gets a reservation at the next time without a budget, which no other job may delay. With \"0s\" there are no such reservations."},
		{name: "learn_job_power", example: "true", about: "Whether the power draw of a job that does not state it is predicted from earlier jobs of the same user and name, by their CPU time; for plugin = \"process\". If unset, each CPU counts with watts_per_cpu."},
	}
}

func seriesKeys() []entry {
	return []entry{
		{name: "feed", example: `"file"`, about: "\"file\" or \"tariff\", the built-in price feeds, or the name of a [[plugin]] of the kind \"price\". Its values are kilowatts instead of prices. If unset, there is no series."},
		{name: "config", example: `"/etc/switchyard/prices/response.toml"`, about: "File with the configuration of a built-in feed, as for [prices]."},
		{name: "area", example: `"response"`, about: "Name of the series in the feed (its area)."},
		{name: "fallback_kw", live: true, example: "400", about: "Maximum total power draw of running jobs in kilowatts after the last hour of the series. If unset, the last budget stays active."},
		{name: "max_kw", live: true, example: "1000", about: "Maximum valid budget in kilowatts. If a future value is above it or below 0, the whole series is rejected and the previous one stays active. If unset, the power draw of all CPUs of the machine."},
	}
}

func slurmKeys() []entry {
	return []entry{
		{name: "conf", example: `"/etc/slurm/slurm.conf"`, about: "Slurm's configuration file. If unset, the default of Slurm's commands."},
		{name: "bin_dir", example: `"/opt/slurm/bin"`, about: "Directory of sbatch, squeue and the other commands. If unset, the PATH of the peer."},
		{name: "partitions", example: `["batch", "long"]`, about: "Partitions that may get jobs, the preferred first. If unset, the default partition."},
		{name: "spool", example: `"/shared/switchyard/spool"`, about: "Directory for the jobs' files. The compute nodes must have it at the same path. If unset, slurm in state_dir, which works only if that is shared."},
		{name: "poll_interval", about: "Time between two polls of the queue."},
		{name: "jobcomp_log", example: `"/var/log/slurm/jobcomp.log"`, about: "The file that JobCompType=jobcomp/filetxt writes. If unset, its path is read from Slurm's configuration."},
		{name: "sbatch_args", example: `["--account=grid", "--qos=grid"]`, about: "Options added to every sbatch call."},
		{name: "node_exporter", example: `"http://{node}:9100/metrics"`, about: "Source of the metrics of a compute node, in Prometheus' text format, while a job runs on it: a URL, or the absolute path of a file. {node} is replaced by the node's name. They give the energy of the job and, on nodes that are exclusive to it, other measurements. If unset, only Slurm's accounting is used."},
		{name: "reservations", example: "true", about: "Whether co-allocation groups may get advance reservations in Slurm. The peer's account must be an operator of Slurm, or root. If unset, there are no reservations at this site."},
	}
}

func pluginKeys() []entry {
	return []entry{
		{name: "name", required: true, example: `"cheapest"`, about: "Name of the plugin in the other tables."},
		{name: "kind", required: true, example: `"policy"`, about: "\"policy\", \"localsched\" or \"price\"."},
		{name: "path", required: true, example: `"/usr/lib/switchyard/plugins/cheapest"`, about: "The plugin's executable file."},
		{name: "args", example: `["--verbose"]`, about: "Arguments of the plugin. If unset, there are none."},
		{name: "sha256", example: `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`, about: "SHA-256 of the file, as sha256sum prints it; a file with another sum is not started. If unset, the file is not checked."},
		{name: "mtls", about: "Whether peer and plugin use TLS with certificates that are created at each start. Use false for plugins in languages without support for it, such as the Python example. They must have sha256, and use a socket that only the peer's account can open."},
		{name: "config", example: `"/etc/switchyard/plugins/cheapest.toml"`, about: "File with the plugin's own configuration, in TOML, in another directory than the peer's. If unset, the plugin gets none."},
		{name: "start_timeout", about: "Maximum time until the plugin answers after its start."},
		{name: "call_timeout", about: "Maximum time of one call; for a policy at most 50s."},
	}
}

func apiKeys() []entry {
	return []entry{
		{name: "private", example: "true", about: "Whether users see only their own jobs, as with PrivateData=jobs of Slurm. The commands queue, status, explain, logs, cancel, history and usage then treat jobs of other users, and of partners' users, as unknown. So does --dependency, also for jobs of partners: their users depend on the jobs of the account that [[partner]] users gives them. Root, the peer's account and admins see all jobs. If unset, every user sees all jobs."},
		{name: "admins", example: `["ops"]`, about: "Users of this site who may see and cancel all jobs, like root and the peer's account. They may not read the output of other users' jobs. If unset, there are no further admins."},
		{name: "listen", example: `"127.0.0.1:9760"`, about: "Host and port of the API over TCP, with TLS, for callers with a token (\"switchyard token create\") and for \"switchyard --server\". If unset, there is none."},
		{name: "hosts", example: `["north.example.org"]`, about: "Further host names and addresses by which clients reach listen, for the certificate that the peer makes without cert_file. It has the name of the machine, localhost and the host of listen anyway."},
		{name: "cert_file", example: `"/etc/switchyard/api.crt"`, about: "File with the certificate of listen and those of its issuers, in PEM. It is read again when it changes. If unset, the peer makes one, and replaces it in time, by an authority of its own, api/ca.pem in state_dir, which clients trust by \"switchyard --server-ca\"."},
		{name: "key_file", example: `"/etc/switchyard/api.key"`, about: "File with the private key of cert_file, in PEM."},
		{name: "dashboard", about: "Who sees the pages for browsers at listen. \"token\": callers who sign in with a token. \"public\": also all who can reach the port; without a token they see what every user of the site sees, with private no jobs of users but only how many there are, and never alarms or notes. \"off\": there are no pages."},
		{name: "studies", example: `"/srv/switchyard/studies"`, about: "Directory with studies for the pages for browsers: each directory in it that has an index.html, as \"switchyard sim report --out\" writes it, is on the page \"Studies\". Who sees the other pages sees these. If unset, there is no such page."},
		{name: "client_ca_file", example: `"/etc/switchyard/api-clients.pem"`, about: "File with the certificates of the authorities, in PEM, whose clients may show a certificate instead of a token; [[api.client]] says for which users. It is read at the start. If unset, only tokens count."},
		{name: "max_request_rate", about: "Maximum number of requests over TCP per second of one user; five times as many may come at once."},
		{name: "max_upload", about: "Maximum total size of the files that one \"switchyard submit --server --stage-in\" sends or one \"switchyard fetch\" gets, as an archive. Until all of what is sent has come, it is kept in state_dir; of one user 2 such requests, and 8 of all, run at once. 0: files do not move over TCP."},
	}
}

func accountKeys() []entry {
	return []entry{
		{name: "users", about: "Which users may run jobs in addition to those in local. \"same\": every user, as the account of the same name. \"listed\": no other user."},
		{name: "local", example: `{ root = "nobody" }`, about: "Accounts of individual users. Jobs that root submits are refused unless root is listed."},
	}
}

func associationKeys() []entry {
	return []entry{
		{name: "origin", required: true, live: true, example: `"south"`, about: "Site where the job was submitted: this site, a partner, or a pattern."},
		{name: "user", live: true, example: `"alice"`, about: "Pattern of the user at the origin. If unset, any."},
		{name: "account", live: true, example: `"phys-*"`, about: "Pattern of the account that the job asks for; \"?*\" is any, \"*\" any or none. Without as_account the job gets what it asks for. If unset, jobs with an account match only if as_account, ignore or refuse says what becomes of it."},
		{name: "partition", live: true, example: `"batch"`, about: "Pattern of the partition, as account. Of several partitions of a job, those count that are mapped with the same account and QOS as the first."},
		{name: "qos", live: true, example: `"*"`, about: "Pattern of the QOS, as account."},
		{name: "as_account", live: true, example: `"grid-phys"`, about: "Account of this site that the job is charged to. If unset, the requested one where account matches it, else the default one."},
		{name: "as_partition", live: true, example: `"long"`, about: "Partition of this site in which the job runs; with Slurm, one of [localsched.slurm] partitions. If unset, the requested one where partition matches it, else any."},
		{name: "as_qos", live: true, example: `"idle"`, about: "QOS of this site. With qos_factors in [cost] it must be one of them, and sets the price. If unset, the requested one where qos matches it, else the default one."},
		{name: "ignore", live: true, example: `["partition"]`, about: "Which of \"account\", \"partition\" and \"qos\" have no effect though the job asks for them; the quote says so. If unset, none."},
		{name: "refuse", live: true, example: `"members of phys only"`, about: "Reason for which this site refuses such jobs, instead of mapping them. If unset, they are mapped."},
	}
}

func partnerKeys() []entry {
	return []entry{
		{name: "name", required: true, live: true, example: `"south"`, about: "Name of the partner, as in its own [site]."},
		{name: "public_key", live: true, example: `"UB3AOV7WTGXIUCE46224XH5OQQN3QCFCZVLDIPKZHTRYU3HWK27LJZZQ"`, about: "Public key of the partner, which \"switchyard keygen\" prints there. Either this or public_key_file is required, unless the roster has the key."},
		{name: "public_key_file", live: true, example: `"/etc/switchyard/south.pub"`, about: "File with the partner's public key, the .pub file that \"switchyard keygen\" writes there."},
		{name: "next_public_key", live: true, example: `"UCSL7X3DUXIOMQGWCKNHFTQ6QE5Y3BYMZSP5CQUK5E6ZILYKGAVP75AR"`, about: "Key by which the partner will replace public_key; until then both are accepted. \"switchyard sites\" and \"switchyard doctor\" show when the partner uses it: then write it in place of public_key or public_key_file, and remove this line."},
		{name: "url", live: true, example: `"nats://switchyard.south.example.org:7501"`, about: "URL of the partner's NATS server. If unset, the partner connects to this site."},
		{name: "max_jobs", live: true, example: "100", about: "Maximum number of the partner's jobs at this site at once. If unset, none."},
		{name: "max_cpus", live: true, example: "32", about: "Maximum number of CPUs of the partner's jobs at this site at once. If unset, there is no maximum."},
		{name: "users", live: true, example: `{ alice = "guest1", "*" = "gridguest" }`, about: "Users of the partner, each with the account of this machine that runs the user's jobs; \"*\" is every other user. Users who are not listed are refused."},
		{name: "shared", live: true, example: `["/home", "/scratch"]`, about: "Directories that this site and the partner share: the same file system under the same path. A job of one whose working directory, output and --stage-in files are in directories that both sites name runs there at the other one, in its own working directory and as the account that its user is mapped to: no files travel, and quotes have no time and price of data. The site that runs a job checks first that its working directory is the same at the origin and that the account can write there; otherwise it gives the job back with the reason. If unset, none."},
		{name: "max_staging", live: true, example: `"1GB"`, about: "Maximum total size of the files that come with one job of the partner, if lower than [staging] max_bytes. If unset, that counts."},
		{name: "latency", live: true, example: `"20ms"`, about: "Latency of a message to the partner. With bandwidth, policies can predict the transfer time of a job's data (submit --stage-in-size)."},
		{name: "bandwidth", live: true, example: `"125MB/s"`, about: "Bandwidth of the link to the partner: a number and kB/s, MB/s, GB/s, kbit/s, Mbit/s or Gbit/s (powers of 1000). If unset, transfers take no time."},
		{name: "max_rate", live: true, example: `"100MB/s"`, about: "Maximum rate at which this site sends files to the partner, and at which it fetches them from it, at least 1MB/s. If unset, only max_rate of [transfer] applies."},
		{name: "per_gb", live: true, example: "0.01", about: "Cost of a GB (10⁹ bytes) over the link for this site, in each direction: its part of K_d. If unset, 0."},
		{name: "per_hour", live: true, example: "0.5", about: "Cost of each hour of data transfer over the link. If unset, 0."},
	}
}

// limitSections are the tables of users and accounts: their shares and limits.
func limitSections() []section {
	return []section{
		{name: "fairshare", about: "Order in which jobs of several users get rounds, as Slurm's plugin priority/multifactor has it. The jobs with the highest priority are in the next round. What the jobs of a user have used at any site counts, and less the longer ago it was; jobs that are placed and have not ended count with the CPU time that they ask for. docs/operations.md explains it. Without half_life the oldest jobs are in the next round, whoever has submitted them.", keys: []entry{
			{name: "half_life", example: `"7d"`, about: "Time after which use counts half, at least 1h. If unset, use does not count."},
			{name: "max_age", about: "Time in the queue from which the age factor of a job is 1."},
			{name: "damping", about: "d in the fair-share factor F = 2^(-U/S/d), where U is the share of all use that is the user's, and S the share of the site that is the user's: the higher, the less use counts."},
			{name: "qos", example: `{ high = 100, normal = 10 }`, about: "Priorities of qualities of service (submit --qos) beside each other; the highest has the factor 1. Others have the factor 0."},
			{name: "exchange_interval", example: `"5m"`, about: "Time between two reports to the partners of common_names of what users have used at this site, at least 10s. Shares then hold for the use at all these sites together. They need the same half_life. If unset, none are sent, and those of partners do not count."},
			{name: "common_names", example: `["aurora", "borealis"]`, about: "Sites whose users and accounts are the same people and projects as those with the same names here. This site itself may be among them. What users of these sites use counts as that of the users here. If unset, none."},
		}},
		{name: "fairshare.weights", about: "Weights of the factors: priority = age × (wait / max_age, at most 1) + fair_share × F + size × (CPUs / CPUs of the site) + qos × (its priority / the highest).", keys: []entry{
			{name: "age", about: "Weight of the wait."},
			{name: "fair_share", about: "Weight of the fair-share factor."},
			{name: "size", example: "500", about: "Weight of the number of CPUs. If unset, 0."},
			{name: "qos", example: "2000", about: "Weight of the quality of service. If unset, 0."},
		}},
		{name: "fairshare.accounts", rows: true, optional: true, about: "Shares of accounts (submit --account), one table [fairshare.accounts.NAME] for each. Accounts and users that are not named have 1 share. Jobs without an account are in one account without a name.", keys: []entry{
			{name: "physics", example: `{ shares = 40, users = { ada = 2 } }`, about: "The shares of this account. shares: beside those of the other accounts with the same parent, 1 or more; if unset, 1. parent: the account of which it is a part; if unset, the site. users: the shares of its users beside each other."},
		}},
		{name: "limits", about: "Limits that protect the peer of this site.", keys: []entry{
			{name: "max_active_jobs", about: "Maximum number of unfinished jobs of this origin; further submissions are refused."},
			{name: "max_jobs_per_user", about: "Maximum number of them for one user. It applies to root and the peer's account too."},
			{name: "max_array_size", about: "Number above the highest index of a job array (`submit --array`), as Slurm's MaxArraySize. Each element counts as a job in the limits above."},
		}},
		{name: "limits.user", about: "Limits of each user of this site, for jobs in all accounts together.", keys: []entry{
			{name: "max_jobs", example: "100", about: "Maximum number of jobs that are placed at sites and have not ended. Further jobs wait in the grid queue with the reason AssocMaxJobsLimit. If unset, there is no limit."},
			{name: "max_cpus", example: "512", about: "Maximum number of CPUs of these jobs together. Further jobs wait with the reason AssocGrpCpuLimit, and those of the same user and account behind them; a job that alone has more is refused. If unset, there is no limit."},
			{name: "max_submit", example: "1000", about: "Maximum number of unfinished jobs; further submissions are refused with AssocMaxSubmitJobLimit. If unset, there is no limit."},
		}},
		{name: "limits.account", about: "Limits of each account, for the jobs of all its users together.", keys: []entry{
			{name: "max_jobs", example: "500", about: "Maximum number of jobs that are placed at sites and have not ended. Further jobs wait in the grid queue with the reason AssocGrpJobsLimit. If unset, there is no limit."},
			{name: "max_cpus", example: "2048", about: "Maximum number of CPUs of these jobs together. Further jobs wait with the reason AssocGrpCpuLimit, and those of the same user and account behind them; a job that alone has more is refused. If unset, there is no limit."},
			{name: "max_submit", example: "5000", about: "Maximum number of unfinished jobs; further submissions are refused with AssocGrpSubmitJobsLimit. If unset, there is no limit."},
		}},
		{name: "limits.users", rows: true, optional: true, about: "Limits of users by name, one table [limits.users.NAME] for each. What one does not set is as in [limits.user].", keys: []entry{
			{name: "ada", example: `{ max_jobs = 500 }`, about: "The limits of this user, with the keys of [limits.user]."},
		}},
		{name: "limits.accounts", rows: true, optional: true, about: "Limits of accounts by name, one table [limits.accounts.NAME] for each. What one does not set is as in [limits.account].", keys: []entry{
			{name: "physics", example: `{ max_cpus = 4096 }`, about: "The limits of this account, with the keys of [limits.account]."},
		}},
	}
}
