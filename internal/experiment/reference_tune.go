package experiment

// tuneTables describe what "switchyard sim tune" reads.
func tuneTables() []Table {
	return []Table{
		{"[tune]", "What \"switchyard sim tune\" searches for; nothing else looks at it.", []Key{
			{"method", `"grid"`, `How: "grid" tries every combination of the values of all axes. "nelder-mead" moves a simplex between the least and the largest value of each, by factors, and begins anew elsewhere while runs are left.`},
			{"runs", "100", "How many points are simulated at most, each for all seeds."},
			{"seeds", "0", "How many seeds each point is simulated for, from seed on. 0: those of the experiment."},
		}},
		{"[tune.goal]", "How much each measure counts. Each is taken relative to the experiment as it stands in the file, for the same seed; the goal is their weighted mean: 1 there, less is better. At least one must be above 0.", []Key{
			{"cost", "0.0", "What users pay, by the sites' charges and for links, those of plain jobs' data too."},
			{"response", "0.0", "Mean time from the submission of a job or an application to its end."},
			{"utilization", "0.0", "Part of all CPUs that works, from the first submission to the last end. More is better."},
			{"energy", "0.0", "What jobs draw, by watts_per_cpu and their factors of [power]."},
			{"limits", "0.0", "Part of the applications that does not keep its limits of cost and time, or does not end. It is added as it is, not relative."},
		}},
		{"[[tune.axis]]", "A key and the numbers that are tried for it.", []Key{
			{"key", "", `With its tables, and sites, applications and curves by their names: "default_weights.wait_weight", "site.NAME.cost.cpu.price"; with * for the name of all, "application.*.wait_weight". Or a key of "sim sweep --set" that is a number. Required.`},
			{"values", "[]", "Numbers, two or more. Required."},
		}},
		{"[[candidate]]", "A machine that may be bought, in a table [candidate.site] with the keys of [[site]] and tables as [candidate.site.cpu_model]; or a machine that may be given up; or both. \"switchyard sim tune --rank-candidates\" ranks them by the goal.", []Key{
			{"name", "", "What it is called. Required."},
			{"price", "0.0", "What it costs to buy, in the experiment's currency. 0: not looked at. Either all candidates that bring a machine have one, or none."},
			{"lifetime", `"1460d"`, "How long it is used; a year costs its part of the price."},
			{"retire", "[]", "Names of sites whose machines are given up. Their users stay, and what they submit runs elsewhere."},
		}},
	}
}
