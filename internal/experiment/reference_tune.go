package experiment

// tuneTables describe what "switchyard sim tune" reads.
func tuneTables() []Table {
	return []Table{
		{"[tune]", `Search of "switchyard sim tune"; other commands ignore it.`, []Key{
			{"method", `"grid"`, `Search method. "grid" tries every combination of the values of all axes. "nelder-mead" moves a simplex between the lowest and the highest value of each axis, by factors, and restarts at other points while runs remain.`},
			{"runs", "100", "Maximum number of points that are simulated, each for all seeds."},
			{"seeds", "0", "Number of seeds for each point, starting at seed. With 0, that of the experiment."},
		}},
		{"[tune.goal]", "Weights of the measures. Each measure is relative to the experiment in the file with the same seed. The goal is their weighted mean: 1 for the experiment in the file, lower is better. At least one weight must be above 0.", []Key{
			{"cost", "0.0", "Cost for users: the sites' charges and link costs, including those of the data of plain jobs."},
			{"response", "0.0", "Mean time from the submission of a job or an application to its end."},
			{"utilization", "0.0", "Share of busy CPUs, from the first submission to the last end. Higher is better."},
			{"energy", "0.0", "Energy of the jobs, by watts_per_cpu and their factors of [power]."},
			{"limits", "0.0", "Share of the applications that exceed their limits of cost or time, or do not end. It is added as an absolute value."},
		}},
		{"[[tune.axis]]", "A key and the numbers that are tried for it.", []Key{
			{"key", "", `Path of the key through its tables, with the names of sites, applications and waiting costs: "default_weights.wait_weight", "site.NAME.cost.cpu.price"; * stands for all names, as in "application.*.wait_weight". Or a key of "sim sweep --set" that is a number. Required.`},
			{"values", "[]", "Numbers, two or more. Required."},
		}},
		{"[[candidate]]", `A machine that may be bought, in a table [candidate.site] with the keys of [[site]] and tables such as [candidate.site.localsched]; or a machine that may be retired; or both. "switchyard sim tune --rank-candidates" ranks the candidates by the goal.`, []Key{
			{"name", "", "Name of the candidate. Required."},
			{"price", "0.0", "Purchase price, in the experiment's currency. With 0, it is ignored. Either all candidates with a new machine have a price, or none."},
			{"lifetime", `"1460d"`, "Service life; a year costs its share of the price."},
			{"retire", "[]", "Names of sites whose machines are retired. Their users stay, and their jobs run at other sites."},
		}},
	}
}
