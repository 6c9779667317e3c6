package usage

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// MHz is at what clock these CPUs of the machine run now, or without any all of them, on
// average; 0 where the machine does not tell. It is the governor's (cpufreq), else what
// /proc/cpuinfo tells.
func (r Roots) MHz(cpus ...int) int {
	clocks := r.governed(cpus)
	if len(clocks) == 0 {
		clocks = r.cpuinfo(cpus)
	}
	return mean(clocks)
}

// governed reads the governor's clocks, in MHz.
func (r Roots) governed(cpus []int) (clocks []float64) {
	names := []string{"[0-9]*"}
	if len(cpus) > 0 {
		names = names[:0]
		for _, cpu := range cpus {
			names = append(names, strconv.Itoa(cpu))
		}
	}
	for _, name := range names {
		files, _ := filepath.Glob(filepath.Join(r.Sys, "devices/system/cpu/cpu"+name+"/cpufreq/scaling_cur_freq")) // the pattern is sound
		for _, file := range files {
			if kilohertz, err := readNumber(filepath.Dir(file), filepath.Base(file)); err == nil {
				clocks = append(clocks, float64(kilohertz)/1000)
			}
		}
	}
	return clocks
}

// cpuinfo reads the clocks in /proc/cpuinfo, in MHz.
func (r Roots) cpuinfo(cpus []int) (clocks []float64) {
	data, err := os.ReadFile(filepath.Join(r.Proc, "cpuinfo"))
	if err != nil {
		return nil
	}
	cpu := -1
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case key == "processor":
			if cpu, err = strconv.Atoi(value); err != nil {
				cpu = -1
			}
		case key == "cpu MHz" && (len(cpus) == 0 || slices.Contains(cpus, cpu)):
			if clock, err := strconv.ParseFloat(value, 64); err == nil {
				clocks = append(clocks, clock)
			}
		}
	}
	return clocks
}

// mean is the mean of the clocks that make sense, to the nearest MHz; 0 when none does.
func mean(clocks []float64) int {
	const most = 1_000_000
	sum, n := 0.0, 0
	for _, clock := range clocks {
		if clock > 0 && clock < most {
			sum += clock
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return int(math.Round(sum / float64(n)))
}
