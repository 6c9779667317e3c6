package sim_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// class is a row of examples/iss/classes.csv, a thousand times as small.
type class struct {
	name     string
	cpus     int
	behavior protocol.Behavior
}

// rows are those of a file of examples/iss, by the names of its columns.
func rows(t testing.TB, name string) (all []map[string]string) {
	t.Helper()
	file, err := os.Open("../../examples/iss/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, column := range records[0] {
			row[column] = record[i]
		}
		all = append(all, row)
	}
	return all
}

func parkSites(t testing.TB) (sites []sim.Machine) {
	t.Helper()
	for _, row := range rows(t, "park.csv") {
		number := func(column string, times float64) int64 {
			n, err := strconv.ParseFloat(row[column], 64)
			if err != nil {
				t.Fatal(err)
			}
			return int64(times * n)
		}
		sites = append(sites, sim.Machine{
			Name: protocol.SiteName(row["site"]), Nodes: int(number("cpus", 1)), CPUsPerNode: 1, MHz: 1000,
			Gamma: protocol.Machine{
				Flops: number("peak_gflops", 1e9), Words: number("memory_gb_s", 1e9/8), Network: number("network_mb_s", 1e6/8),
				Latency: number("latency_us", 1e3), Bus: row["bus"] == "true",
			},
		})
	}
	return sites
}

func parkClasses(t testing.TB) (classes []class) {
	t.Helper()
	for _, row := range rows(t, "classes.csv") {
		number := func(column string) int64 {
			n, err := strconv.ParseInt(row[column], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		const smaller = 1000
		cpus := int(number("cpus"))
		classes = append(classes, class{name: row["class"], cpus: cpus, behavior: protocol.Behavior{
			Mflop: number("mflop") / smaller, Mwords: number("mwords") / smaller, Sent: number("sent_words") / smaller,
			Messages: number("messages") / smaller, CPUs: cpus, Scaling: protocol.Scaling(row["scaling"]),
		}})
	}
	return classes
}
