package experiment

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// WriteModel writes a model as a file that [ReadModel] and the key model_file
// read, below comments that say where it comes from.
func WriteModel(w io.Writer, model workload.JobModel, comments ...string) error {
	var b strings.Builder
	for _, comment := range comments {
		for line := range strings.SplitSeq(comment, "\n") {
			b.WriteString(strings.TrimRight("# "+printable(line), " ") + "\n")
		}
	}
	on := model.On()
	fmt.Fprintf(&b, "\n[machine]\nname = %q\nnodes = %d\ncpus_per_node = %d\nmhz = %d\n",
		printable(on.Name), on.Nodes, on.CPUsPerNode, on.MHz)
	switch m := model.(type) {
	case workload.Model:
		writeClasses(&b, m.Classes)
	case *workload.PeriodModel:
		writeProfile(&b, &m.Profile)
	default:
		return fmt.Errorf("a model of type %T has no file", model)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeClasses(b *strings.Builder, classes []workload.Class) {
	for _, c := range classes {
		fmt.Fprintf(b, "\n[[classes]]\nmin_cpus = %d\nmax_cpus = %d\nshare = %s\n", c.Min, c.Max, floatTOML(c.Share))
		for _, part := range []struct {
			key string
			of  workload.HyperErlang
		}{{"inter_arrival", c.Arrival}, {"service", c.Service}} {
			fmt.Fprintf(b, "%s = { n = %d, lambda1 = %s, lambda2 = %s, rho = %s }\n", part.key,
				part.of.N, floatTOML(part.of.Lambda1), floatTOML(part.of.Lambda2), floatTOML(part.of.Rho))
		}
	}
}

func writeProfile(b *strings.Builder, p *workload.Profile) {
	fmt.Fprintf(b, "\n[profile]\nweekday = %d # of the first submission, from 0, Sunday\nbegin_s = %d # time of the day of the first submission\n"+
		"span_s = %d # from the first to the last\nperiod_h = %d\n", p.Weekday, p.Begin, p.Span, p.Period)
	fmt.Fprintf(b, "hours = %s # batches by the hour of the day at which they begin\n", intsTOML(p.Hours))
	fmt.Fprintf(b, "alike_ppm = %d # correlation of the run times of a batch's successive jobs\n", p.Alike)
	b.WriteString("# Deciles of the seconds between two submissions of a batch, of batches of 2 or 3 jobs, 4 to 7, ...\ngaps_s = [\n")
	for _, gaps := range p.Gaps {
		b.WriteString("  " + intsTOML(gaps) + ",\n")
	}
	fmt.Fprintf(b, "]\nmax_cpus = %s # of each size class\n", intsTOML(p.Widths))
	b.WriteString("# Of each period: for each size class the jobs and their CPU-seconds, and then the largest size.\nperiods = [\n")
	for _, period := range p.Periods {
		b.WriteString("  " + intsTOML(period) + ",\n")
	}
	b.WriteString("]\n\n# Kinds of jobs: sizes of equal parts of them; run times and estimates of equal parts of them;\n" +
		"# batches of 1 job, 2 or 3, 4 to 7, ...\n")
	for _, k := range p.Kinds {
		fmt.Fprintf(b, "\n[[profile.kinds]]\njobs = %d\ncpus = %s\nruns_s = %s\nestimates_s = %s\nbatches = %s\n",
			k.Jobs, intsTOML(k.CPUs), intsTOML(k.Runs), intsTOML(k.Estimates), intsTOML(k.Batches))
	}
}

func intsTOML(values []int) string {
	text := []byte{'['}
	for i, v := range values {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = strconv.AppendInt(text, int64(v), 10)
	}
	return string(append(text, ']'))
}

// floatTOML prints a number so that it reads back as the same, always as one with a
// point or an exponent.
func floatTOML(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if strings.ContainsAny(text, ".e") {
		return text
	}
	return text + ".0"
}

// printable replaces what may not stand in a comment or text of TOML.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, s)
}
