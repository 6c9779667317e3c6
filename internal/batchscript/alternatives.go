package batchscript

import "slices"

// alternative are options that say one thing together, of which a job may be asked in other ways, too.
type alternative []string

// alternatives are the ways to size a job, and those to ask for memory. Of each list a job has one.
func alternatives() [][]alternative {
	return [][]alternative{
		{{"cpus"}, {"ntasks", "ntasks-per-node", "cpus-per-task", "cpus-per-gpu"}},
		{{"mem"}, {"mem-per-cpu"}, {"mem-per-gpu"}},
	}
}

// forget takes back what an option has said that may be one of several alternatives.
func (w *jobOptions) forget(long string) {
	switch long {
	case "cpus":
		w.cpus = nil
	case "ntasks":
		w.tasks = 0
	case "ntasks-per-node":
		w.tasksPerNode = 0
	case "cpus-per-task":
		w.cpusPerTask = 0
	case "cpus-per-gpu":
		w.cpusPerGPU = 0
	case "mem":
		w.memoryMB = 0
	case "mem-per-cpu":
		w.cpuMemoryMB = 0
	case "mem-per-gpu":
		w.gpuMemoryMB = 0
	}
	delete(w.spots, long)
}

// choose leaves one alternative of each list. As for sbatch, one source of options beats another whatever
// they name, so that the command line has the last word, and what one source says in two ways is a contradiction.
func (w *jobOptions) choose(script Script, r *report) {
	for _, list := range alternatives() {
		best, strongest := w.strongest(list)
		if best == "" {
			continue
		}
		for _, one := range list {
			if slices.Contains(one, best) {
				continue
			}
			for _, long := range one {
				w.chooseOver(long, best, strongest, script, r)
			}
		}
	}
}

// strongest is the option of the list that the strongest source names, and that source; of several the first.
func (w *jobOptions) strongest(list []alternative) (best string, from int) {
	for _, long := range slices.Concat(list...) {
		if at, said := w.spots[long]; said && (best == "" || at.source > from) {
			best, from = long, at.source
		}
	}
	return best, from
}

// chooseOver has an option count and another one not, or says that they contradict each other.
func (w *jobOptions) chooseOver(long, best string, strongest int, script Script, r *report) {
	at, said := w.spots[long]
	switch {
	case !said:
		return
	case at.source == strongest:
		w.fault(r, script, long, "contradicts --%s (%s); use one of the two", best, w.spots[best].place)
	case long == "ntasks" && strongest < fromCommandLine: // a script for Slurm whose size the grid chooses
	case !at.wrong:
		r.notice(w.spots[best].place, "--%s replaces --%s (%s)", best, long, at.place)
	}
	w.forget(long)
}
