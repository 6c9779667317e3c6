package api_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
)

// TestMemoryOfSubmissions sends as many elements of each list as a body has room for.
func TestMemoryOfSubmissions(t *testing.T) { // alone: it measures what is allocated
	for name, around := range map[string][3]string{
		"jobs":           {`{"jobs":[`, `{}`, `]}`},
		"jobs of a list": {`{"jobs":[`, `[]`, `]}`},
		"resources":      {`{"jobs":[{"spec":{"resources":[`, `{}`, `]}}]}`},
		"sites":          {`{"jobs":[{"spec":{"sites":[`, `""`, `]}}]}`},
		"variables":      {`{"jobs":[{"payload":{"env":[`, `""`, `]}}]}`},
		"arguments":      {`{"jobs":[{"payload":{"args":[`, `""`, `]}}]}`},
		"files":          {`{"jobs":[{"payload":{"staging":{"stage_out":[`, `""`, `]}}}]}`},
		"terms":          {`{"jobs":[{"dependency":{"terms":[`, `{}`, `]}}]}`},
		"rates":          {`{"application":{"rates":[`, `{}`, `]}}`},
		"lists of jobs":  {`{"jobs":[`, `{"payload":{"env":[` + strings.Repeat(`"",`, 4000) + `""]}}`, `]}`},
		"unknown":        {`{"what":[`, `0`, `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			n := (api.MaxBody - len(around[0]+around[1]+around[2])) / (len(around[1]) + 1)
			body := around[0] + strings.Repeat(around[1]+",", n) + around[1] + around[2]
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := api.DecodeSubmission(strings.NewReader(body))
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 5*api.MaxBody {
				t.Errorf("%d MB were allocated for a body of %d MB (%v)", bytes>>20, len(body)>>20, err)
			}
		})
	}
}

// TestListsOfSubmissions has lists that are as long as they may be, and longer by one element.
func TestListsOfSubmissions(t *testing.T) {
	t.Parallel()
	list := func(n int, element string) string { return "[" + strings.Repeat(element+",", n-1) + element + "]" }
	job := `{"spec":{"cpus":1,"wall_time_ms":1},"payload":{"args":%s}}`
	args := func(n int) string { return fmt.Sprintf(job, list(n, `"XSwi"`)) } // ],"
	full := args(api.MaxValues/api.MaxJobs - 2)
	for name, sent := range map[string]struct{ jobs, fault string }{
		"many arguments":         {"[" + args(api.MaxListed) + "]", ""},
		"too many arguments":     {"[" + args(api.MaxListed+1) + "]", "a list has more than 65536 elements"},
		"too many in all lists":  {list(api.MaxJobs+10, full), "the lists have more than 1048576 elements together"},
		"many jobs":              {list(api.MaxJobs, args(1)), ""},
		"too many jobs":          {list(api.MaxJobs+1, args(1)), "the submission has 1001 jobs; send 1 to 1000"},
		"brackets and quotes":    {`[` + fmt.Sprintf(job, `["XA=="]`) + `]`, ""},
		"a fault in a later job": {`[` + args(1) + `,{"spec":{"cpus":0}}]`, "job 2 of 2: the job asks for 0 CPUs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := `{"key":"\",[[,,\\","jobs":` + sent.jobs + `}`
			s, err := api.DecodeSubmission(strings.NewReader(body))
			switch {
			case sent.fault == "" && (err != nil || s.Key != `",[[,,\`):
				t.Errorf("%v; %q", err, s.Key)
			case sent.fault != "" && (err == nil || !strings.Contains(err.Error(), sent.fault)):
				t.Errorf("%v; want %s", err, sent.fault)
			}
		})
	}
}
