package config

// costSections describe what applications are chosen by: docs/cost-model.md.
func costSections() []section {
	return append(chargeSections(), []section{
		{name: "waiting_cost", array: true, optional: true, about: "What it costs to wait for results: a curve by the clock, which users name with --waiting-cost; one such table for each. docs/cost-model.md shows them.", keys: []entry{
			{name: "name", required: true, example: `"salary"`, about: "By which users and [default_weights] name the curve."},
			{name: "kind", required: true, example: `"salary"`, about: "\"salary\": people wait, in working hours only. \"steps\": from certain times on waiting costs more or less, as for a product that must be on the market by a date. \"sum\": several curves together."},
			{name: "rate", example: "60.0", about: "What an hour costs: a working hour of \"salary\", and for \"steps\" an hour before the first step. Not set: \"steps\" begin with nothing."},
			{name: "days", example: `"mon-thu"`, about: "Working days of \"salary\". Not set: mon-fri."},
			{name: "hours", example: `"09:00-12:00, 13:00-18:00"`, about: "Working hours of \"salary\". Not set: 08:00-12:00, 13:00-17:00."},
			{name: "holidays", example: `["2026-07-20..2026-08-07"]`, about: "Vacations of \"salary\", besides the holidays of [cost]. Not set: none."},
			{name: "steps", example: `{ "2026-12-01" = 500.0, "2026-12-01 08:00" = 900.0, "3d" = 1200.0 }`, about: "When waiting begins to cost how much an hour: by the clock of [prices] time_zone, or so long after the submission."},
			{name: "parts", example: `["salary", "launch"]`, about: "Names of the curves that a \"sum\" adds up."},
		}},
		{name: "default_weights", about: "How the policy iss weighs costs for users who do not say: z = β·K_w + Σ [α(K_e + K_l) + γ·K_eco + δ·K_d].", keys: []entry{
			{name: "objective", about: "\"fastest\", \"cheapest\", \"green\" or \"balanced\": where the weights come from that are not set here."},
			{name: "compute_weight", about: "α: weight of what CPUs and licences cost; 0 to 1000. Not set: by objective, as the other three."},
			{name: "wait_weight", about: "β: weight of what waiting costs."},
			{name: "energy_weight", about: "γ: weight of what energy costs."},
			{name: "data_weight", about: "δ: weight of what traffic costs."},
			{name: "waiting_cost", example: `"salary"`, about: "The [[waiting_cost]] that counts for users who name none. Not set: an hour of waiting costs one of the site's currency."},
		}},
	}...)
}

// chargeSections describe what the site charges.
func chargeSections() []section {
	return []section{
		{name: "exchange", about: "What currencies are worth. All sites of a grid use the same numbers: keep the table in a file of its own, copy that to every site and name it as a further --config.", keys: []entry{
			{name: "worth", example: `{ CHF = 1.0, EUR = 0.94 }`, about: "What one of each currency is worth in a unit that all share, which may be one of them. Not set: amounts in other currencies than the site's cannot be compared."},
		}},
		{name: "cost", about: "What this site charges, term by term; its quotes then name each, and the policy iss weighs them. All money is in [site] currency, with up to six decimals, and hours go by [prices] time_zone. Excludes [tariff].", keys: []entry{
			{name: "qos_factors", example: `{ urgent = 1.5, idle = 0.5 }`, about: "φ: the classes of priority that jobs may ask for here (submit --priority), and the factor of the CPU price of each. A class that is not listed is declined. Not set: there are none."},
			{name: "holidays", example: `["01-01", "2026-04-03", "12-24..01-02"]`, about: "Days, or spans of days, that are no weekdays but \"holiday\", of one year or of every year. Not set: none."},
		}},
		{name: "cost.cpu", optional: true, about: "K_e: what the use of CPUs costs.", keys: []entry{
			{name: "price", example: "0.05", about: "Price of a CPU for an hour, when no period has another. Not set: nothing."},
			{name: "guest_price", example: "0.08", about: "The same for jobs of partners. Not set: as price."},
		}},
		{name: "cost.cpu.period", array: true, optional: true, about: "A time with a price of its own; one such table for each. No two may hold at once.", keys: []entry{
			{name: "name", required: true, example: `"night"`, about: "What people call it. No two periods have one name."},
			{name: "months", example: `"oct-mar"`, about: "Months, or ranges of them. Not set: all."},
			{name: "days", example: `"mon-fri"`, about: "Weekdays, or ranges of them, and \"holiday\" for those of [cost] holidays, which are no weekdays. Not set: all."},
			{name: "hours", example: `"20:00-08:00"`, about: "Times of the day, on quarters of an hour; what goes on after midnight belongs to the next day. Not set: all."},
			{name: "price", required: true, example: "0.02", about: "Price of a CPU for an hour then."},
			{name: "guest_price", example: "0.03", about: "The same for jobs of partners. Not set: as price."},
		}},
		{name: "cost.license", array: true, optional: true, about: "K_l: a licence that jobs may use here (submit --licenses); one such table for each. A job that needs another one is declined. How many there are is the batch system's business.", keys: []entry{
			{name: "name", required: true, example: `"solver"`, about: "The licence's name, as jobs name it."},
			{name: "per_use", example: "5.0", about: "Price of one each time a job starts. Not set: nothing."},
			{name: "per_hour", example: "2.5", about: "Price of one for an hour of the run. Not set: nothing."},
			{name: "per_cpu_hour", example: "0.01", about: "Price of one for each CPU of the job and each hour of the run. Not set: nothing."},
		}},
		{name: "cost.eco", optional: true, about: "K_eco: what energy and cooling cost, and whether CPUs run slower for jobs that wait for memory. Without this table the electricity of [power] and [prices] counts as it is. Needs [power] watts_per_cpu.", keys: []entry{
			{name: "cooling", about: "Power of all over that of the computers (PUE), 1 or more."},
			{name: "price", example: "120.0", about: "Price of a MWh, for a contract with one price; it may be negative. Not set: by [prices], with their forecasts."},
			{name: "co2_price", example: "0.12", about: "Price of a kg of CO2, in addition. Not set: nothing."},
			{name: "co2_intensity", example: "40", about: "Grams of CO2 for a kWh."},
			{name: "frequencies", example: "[2400, 1800, 1200]", about: "Frequencies of the CPUs in MHz, the full one first and falling. A job gets the lowest at which its run is foreseen to grow no more than max_slowdown; only jobs whose behaviour is known get another than the first. Not set: they run at one."},
			{name: "max_slowdown", about: "By how much a run may grow at a lower frequency, as a share of it."},
			{name: "static_share", example: "0.3", about: "Share of a CPU's power that does not fall with the frequency; the rest falls with its square. Not set: 0."},
		}},
		{name: "cost.data", about: "The site's part of K_d: traffic of partners' jobs. What the links cost the origin is said in [[partner]].", keys: []entry{
			{name: "per_gb_in", example: "0.02", about: "Price of a GB (10⁹ bytes) that comes with a job. Not set: nothing."},
			{name: "per_gb_out", example: "0.05", about: "Price of a GB that goes back. Not set: nothing."},
		}},
	}
}

func gammaKeys() []entry {
	return []entry{
		{name: "peak_gflops", required: true, example: "4.8", about: "R∞: peak of a CPU, in Gflop/s."},
		{name: "memory_bandwidth", required: true, example: `"6400MB/s"`, about: "M∞: of its main memory, a CPU's share."},
		{name: "network_bandwidth", required: true, example: `"100Mbit/s"`, about: "C∞: that a CPU sends; with bus = true, that all CPUs of a job send together."},
		{name: "latency_us", example: "60.0", about: "L: of a message, in microseconds. Not set: 0."},
		{name: "bus", example: "true", about: "Whether the CPUs of a job share the network. Not set: each has its own link to a switch."},
	}
}
