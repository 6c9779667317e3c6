package config

// costSections describe what applications are chosen by: docs/cost-model.md.
func costSections() []section {
	return append(chargeSections(), []section{
		{name: "waiting_cost", array: true, optional: true, about: "The cost of waiting for results: an hourly cost over time, which users name with --waiting-cost; one table for each. docs/cost-model.md has examples.", keys: []entry{
			{name: "name", required: true, example: `"salary"`, about: "Name of the waiting cost, for users and [default_weights]."},
			{name: "kind", required: true, example: `"salary"`, about: "\"salary\": cost of people who wait, in working hours only. \"steps\": the hourly cost changes at given times, as for a product with a release date. \"sum\": the sum of several waiting costs."},
			{name: "rate", example: "60.0", about: "Hourly cost: for \"salary\" in working hours, for \"steps\" before the first step. If unset, \"steps\" start at 0."},
			{name: "days", example: `"mon-thu"`, about: "Working days of \"salary\". If unset, mon-fri."},
			{name: "hours", example: `"09:00-12:00, 13:00-18:00"`, about: "Working hours of \"salary\". If unset, 08:00-12:00, 13:00-17:00."},
			{name: "holidays", example: `["2026-07-20..2026-08-07"]`, about: "Vacations of \"salary\", in addition to the holidays of [cost]. If unset, none."},
			{name: "steps", example: `{ "2026-12-01" = 500.0, "2026-12-01 08:00" = 900.0, "3d" = 1200.0 }`, about: "Hourly cost of waiting, by start time: a time in [prices] time_zone, or a time since the submission."},
			{name: "parts", example: `["salary", "launch"]`, about: "Names of the waiting costs that a \"sum\" adds up."},
		}},
		{name: "default_weights", about: "Weights of the policy iss for users who set none: z = β·K_w + Σ [α(K_e + K_l) + γ·K_eco + δ·K_d].", keys: []entry{
			{name: "objective", about: "\"fastest\", \"cheapest\", \"green\" or \"balanced\": the source of the weights that are not set here."},
			{name: "compute_weight", about: "α: weight of the cost of CPUs and licenses; 0 to 1000. If unset, that of objective, as for the other three weights."},
			{name: "wait_weight", about: "β: weight of the waiting cost."},
			{name: "energy_weight", about: "γ: weight of the energy cost."},
			{name: "data_weight", about: "δ: weight of the cost of data transfers."},
			{name: "waiting_cost", example: `"salary"`, about: "The [[waiting_cost]] for users who name none. If unset, an hour of waiting costs 1 in the currency of the site."},
		}},
	}...)
}

// chargeSections describe what the site charges.
func chargeSections() []section {
	return []section{
		{name: "exchange_rates", rows: true, optional: true, about: "Exchange rates of currencies. All sites of a grid must use the same numbers. Keep the table in a separate file, copy that file to every site and add it as a further --config.", keys: []entry{
			{name: "CHF", example: "1.06", about: "Value of one CHF in a common unit, which may be one of the currencies; one key for each currency, by its three capital letters. Amounts in different currencies can only be compared if both have a rate."},
		}},
		{name: "cost", about: "What this site charges, by term. Its quotes then carry each term, and the policy iss weighs them. Amounts are in [site] currency, with up to six decimals, and hours are in [prices] time_zone. Excludes [tariff].", keys: []entry{
			{name: "qos_factors", example: `{ urgent = 1.5, idle = 0.5 }`, about: "φ: the qualities of service that jobs may request at this site (submit --qos), each with the factor of its CPU price. Jobs with one that is not listed are declined. If unset, there are none."},
			{name: "holidays", example: `["01-01", "2026-04-03", "12-24..01-02"]`, about: "Days, or ranges of days, of one year or of every year. They count as \"holiday\" and not as weekdays. If unset, none."},
		}},
		{name: "cost.cpu", optional: true, about: "K_e: cost of CPU use.", keys: []entry{
			{name: "price", example: "0.05", about: "Price of a CPU for an hour outside the periods. If unset, 0."},
			{name: "guest_price", example: "0.08", about: "The same for guests. If unset, that of price."},
		}},
		{name: "cost.cpu.period", array: true, optional: true, about: "A period with its own price; one table for each. Periods must not overlap.", keys: []entry{
			{name: "name", required: true, example: `"night"`, about: "Name of the period; it must be unique."},
			{name: "months", example: `"oct-mar"`, about: "Months, or ranges of months. If unset, all."},
			{name: "days", example: `"mon-fri"`, about: "Weekdays, or ranges of weekdays, and \"holiday\" for those of [cost] holidays, which do not count as weekdays. If unset, all."},
			{name: "hours", example: `"20:00-08:00"`, about: "Times of the day, in quarters of an hour; the part after midnight belongs to the next day. If unset, all."},
			{name: "price", required: true, example: "0.02", about: "Price of a CPU for an hour in the period."},
			{name: "guest_price", example: "0.03", about: "The same for guests. If unset, that of price."},
		}},
		{name: "cost.license", array: true, optional: true, about: "K_l: the price of a license that jobs may use at this site (submit --licenses); one table for each. The local scheduler has the licenses, and controls how many are in use: [localsched.licenses], or those of Slurm. A license without a price is free.", keys: []entry{
			{name: "name", required: true, example: `"solver"`, about: "Name of the license, as in submit --licenses and [localsched.licenses]."},
			{name: "per_use", example: "5.0", about: "Price of one license for each start of a job. If unset, 0."},
			{name: "per_hour", example: "2.5", about: "Price of one license for each hour of the run. If unset, 0."},
			{name: "per_cpu_hour", example: "0.01", about: "Price of one license for each CPU of the job and each hour of the run. If unset, 0."},
		}},
		{name: "cost.eco", optional: true, about: "K_eco: cost of energy and cooling, and lower CPU frequencies for jobs that are limited by memory. Without this table quotes carry the electricity cost of [power] and [prices]. Requires [power] watts_per_cpu.", keys: []entry{
			{name: "cooling", about: "Total power of the site divided by that of the computers (PUE), 1 or more."},
			{name: "price", example: "120.0", about: "Price of a MWh, for a contract with one price; it may be negative. If unset, the prices of [prices] and their forecasts."},
			{name: "co2_price", example: "0.12", about: "Price of a kg of CO2, in addition. If unset, 0."},
			{name: "co2_intensity", example: "40", about: "Grams of CO2 for a kWh."},
			{name: "frequencies", example: "[2400, 1800, 1200]", about: "Frequencies of the CPUs in MHz, from the full one down. A job gets the lowest frequency at which its predicted run time grows by at most max_slowdown. Jobs without a known behavior run at the first. If unset, there is only one frequency."},
			{name: "max_slowdown", about: "Maximum growth of a run at a lower frequency, as a share of its run time."},
			{name: "static_share", example: "0.3", about: "Share of a CPU's power draw that does not depend on the frequency; the rest falls with its square. If unset, 0."},
		}},
		{name: "cost.data", about: "The site's part of K_d: data transfers of guests. The link costs of the origin are set in [[partner]].", keys: []entry{
			{name: "per_gb_in", example: "0.02", about: "Price of a GB (10⁹ bytes) that is transferred to this site with a job. If unset, 0."},
			{name: "per_gb_out", example: "0.05", about: "Price of a GB that is transferred back. If unset, 0."},
		}},
	}
}

func gammaKeys() []entry {
	return []entry{
		{name: "peak_gflops", required: true, example: "4.8", about: "R∞: peak performance of a CPU, in Gflop/s."},
		{name: "memory_bandwidth", required: true, example: `"6400MB/s"`, about: "M∞: memory bandwidth of a CPU, its share of that of the node."},
		{name: "network_bandwidth", required: true, example: `"100Mbit/s"`, about: "C∞: bandwidth at which a CPU sends; with bus = true, all CPUs of a job together."},
		{name: "latency_us", example: "60.0", about: "L: latency of a message, in microseconds. If unset, 0."},
		{name: "bus", example: "true", about: "Whether the CPUs of a job share the network. If unset, each has its own link to a switch."},
	}
}
