package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSimFlow: hash, flow and cost are those of the reference instances.
func TestSimFlow(t *testing.T) {
	t.Parallel()
	args := []string{"flow", "--jobs", "500", "--systems", "58", "--capacity", "5", "--seed", "2"}
	var got map[string]any
	if err := json.Unmarshal([]byte(good(t, simulate(t, append(args, "--json")...))), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"hash": "9c1c05ac1f3c9b04", "pairs": 23332.0, "cost_sum": 798287.0, "flow": 290.0, "cost": 6974.0, "certified": true,
		"jobs": 500.0, "systems": 58.0, "capacity": 5.0, "seed": 2.0, "scale": 100.0,
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	for _, key := range []string{"build_s", "solve_s"} {
		if s, ok := got[key].(float64); !ok || s <= 0 {
			t.Errorf("%s is %v", key, got[key])
		}
	}
	for _, want := range []string{"9c1c05ac1f3c9b04", " 290 ", " 6974 ", "yes\n"} {
		if table := good(t, simulate(t, args...)); !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

func TestSimFlowAtAFinerScale(t *testing.T) {
	t.Parallel()
	got := good(t, simulate(t, "flow", "--jobs", "300", "--systems", "10", "--capacity", "25", "--scale", "1000000"))
	if !strings.Contains(got, " 250 ") || !strings.Contains(got, "yes\n") {
		t.Errorf("got %s", got)
	}
}

func TestSimFlowRefusesBadSizes(t *testing.T) {
	t.Parallel()
	for want, args := range map[string]string{
		"--jobs: invalid value 0":                        "--systems 1 --capacity 1",
		"--systems: invalid value -3":                    "--jobs 1 --systems -3 --capacity 1",
		"--capacity: invalid value 0":                    "--jobs 1 --systems 1",
		"--jobs: 16000000 jobs on 8000 systems exceed":   "--jobs 16000000 --systems 8000 --capacity 1",
		"--scale: 10 is not a multiple of 4 from 4 to":   "--jobs 1 --systems 1 --capacity 1 --scale 10",
		`invalid argument "x" for "--seed"`:              "--jobs 1 --systems 1 --capacity 1 --seed x",
		"flow takes no arguments, got \"reference.csv\"": "reference.csv",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			got := simulate(t, append([]string{"flow"}, strings.Fields(args)...)...)
			if got.code != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
