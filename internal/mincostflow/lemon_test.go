//go:build lemon

package mincostflow_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
)

// BenchmarkAgainstLEMON solves the same instances with LEMON, which must be
// installed (Debian: liblemon-dev), and prints how many times less CPU time Solve
// needs than the best of its algorithms. Both have the costs in memory; from there
// LEMON's times are given with and without building its graph. The largest instance
// takes LEMON minutes and 10 GB; it is solved if LEMON_LARGE is set.
//
//	go test -tags lemon -run '^$' -bench LEMON -benchtime 1x ./internal/mincostflow
func BenchmarkAgainstLEMON(b *testing.B) {
	lemon := compileLEMON(b)
	for _, scale := range []int{mincostflow.ReferenceScale, 1_000_000} {
		for _, shape := range shapes() {
			large := shape[0]*shape[1] > tooLarge
			if large && os.Getenv("LEMON_LARGE") == "" {
				continue
			}
			b.Run(fmt.Sprintf("%dx%dx%d/scale=%d", shape[0], shape[1], shape[2], scale), func(b *testing.B) {
				p := instance(b, shape[0], shape[1], shape[2], 1, scale)
				algorithms := []string{"NetworkSimplex", "CostScaling"}
				if large {
					algorithms = algorithms[1:] // the other is slower still
				}
				for b.Loop() {
					compare(b, p, lemon, algorithms)
				}
			})
		}
	}
}

func compileLEMON(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "lemon")
	out, err := exec.CommandContext(b.Context(), "g++", "-O2", "-o", binary, "testdata/lemon.cc").CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func compare(b *testing.B, p *mincostflow.Problem, lemon string, algorithms []string) {
	b.Helper()
	seconds, s := solveSeconds(b, p)
	solve, built := math.Inf(1), math.Inf(1)
	cmd := exec.CommandContext(b.Context(), lemon, algorithms...)
	cmd.Stdin = bytes.NewReader(encode(b, p, s.Flow))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if fields[1] != strconv.FormatInt(s.Cost, 10) {
			b.Fatalf("cost %d, but LEMON's %s", s.Cost, line)
		}
		b.Logf("%-14s solve %ss, with building %ss", fields[0], fields[2], fields[3])
		solve, built = min(solve, number(b, fields[2])), min(built, number(b, fields[3]))
	}
	b.ReportMetric(1000*seconds, "ms")
	b.ReportMetric(1000*built, "lemon-ms")
	b.ReportMetric(built/seconds, "x-lemon")
	b.ReportMetric(solve/seconds, "x-lemon-solve")
}

// solveSeconds is the least of a few runs, for a second at most.
func solveSeconds(b *testing.B, p *mincostflow.Problem) (float64, *mincostflow.Solution) {
	b.Helper()
	least, begin := math.Inf(1), cpuSeconds(b)
	for {
		start := cpuSeconds(b)
		s, err := mincostflow.Solve(p, nil)
		if err != nil {
			b.Fatal(err)
		}
		end := cpuSeconds(b)
		if least = min(least, end-start); end-begin > 1 {
			return least, s
		}
	}
}

func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func number(b *testing.B, text string) float64 {
	b.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func encode(b *testing.B, p *mincostflow.Problem, flow int) []byte {
	b.Helper()
	numbers := []int32{int32(p.Jobs), int32(p.Systems), int32(flow)}
	for _, c := range p.Capacity {
		numbers = append(numbers, int32(c))
	}
	out, err := binary.Append(nil, binary.NativeEndian, numbers)
	if err == nil {
		out, err = binary.Append(out, binary.NativeEndian, p.Costs)
	}
	if err != nil {
		b.Fatal(err)
	}
	return out
}
