package experiment

import "github.com/switchyard-hpc/switchyard/internal/settings"

// tuneTables describe what "switchyard sim tune" reads.
func tuneTables() []settings.Table {
	return []settings.Table{
		{Name: "[tune]", About: `Search of "switchyard sim tune"; other commands ignore it.`, Keys: []settings.Key{
			{Name: "method", Default: `"grid"`, About: `Search method. "grid" tries every combination of the values of all axes. "nelder-mead" moves a simplex between the lowest and the highest value of each axis, by factors, and restarts at other points while runs remain.`},
			{Name: "runs", Default: "100", About: "Maximum number of points that are simulated, each for all seeds."},
			{Name: "seeds", Default: "0", About: "Number of seeds for each point, starting at seed. With 0, that of the experiment."},
		}},
		{Name: "[tune.goal]", About: "Weights of the measures. Each measure is relative to the experiment in the file with the same seed. The goal is their weighted mean: 1 for the experiment in the file, lower is better. At least one weight must be above 0.", Keys: []settings.Key{
			{Name: "cost", Default: "0.0", About: "Cost for users: the sites' charges and link costs, including those of the data of plain jobs."},
			{Name: "response", Default: "0.0", About: "Mean time from the submission of a job or an application to its end."},
			{Name: "utilization", Default: "0.0", About: "Share of busy CPUs, from the first submission to the last end. Higher is better."},
			{Name: "energy", Default: "0.0", About: "Energy of the jobs, by watts_per_cpu and their factors of [power]."},
			{Name: "limits", Default: "0.0", About: "Share of the applications that exceed their limits of cost or time, or do not end. It is added as an absolute value."},
		}},
		{Name: "[[tune.axis]]", About: "A key and the numbers that are tried for it.", Keys: []settings.Key{
			{Name: "key", Required: true, About: `Path of the key through its tables, with the names of sites, applications and waiting costs: "default_weights.wait_weight", "site.NAME.cost.cpu.price"; * stands for all names, as in "application.*.wait_weight". Or a key of "sim sweep --set" that is a number.`},
			{Name: "values", Required: true, About: "Numbers, two or more."},
		}},
		{Name: "[[candidate]]", About: `A machine that may be bought, in a table [candidate.site] with the keys of [[site]] and tables such as [candidate.site.localsched]; or a machine that may be retired; or both. "switchyard sim tune --rank-candidates" ranks the candidates by the goal.`, Keys: []settings.Key{
			{Name: "name", Required: true, About: "Name of the candidate."},
			{Name: "price", Default: "0.0", About: "Purchase price, in the experiment's currency. With 0, it is ignored. Either all candidates with a new machine have a price, or none."},
			{Name: "lifetime", Default: `"1460d"`, About: "Service life; a year costs its share of the price."},
			{Name: "retire", Default: "[]", About: "Names of sites whose machines are retired. Their users stay, and their jobs run at other sites."},
		}},
	}
}
