package tasks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/tasks"
)

func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		tasks int
		want  string // the programs, or the error
	}{
		{"0 a %t %o\n1-2 b %t:%o\n", 3, "[[a 0 0] [b 1:0] [b 2:1]]"},
		{"# all\n\n1 one # not two\n* rest %o\n", 3, "[[rest 0] [one] [rest 1]]"},
		{`0-1 sh -c "echo 'a b' %t" x\ y`, 2, "[[sh -c echo 'a b' %t x y] [sh -c echo 'a b' %t x y]]"},
		{"0,2 a\n1 b", 3, "[[a] [b] [a]]"},
		{"0 %t", 1, "[[%t]]"},
		{"0-3 a", 2, "Invalid task id, 3 >= ntasks\nLine 1 of configuration file f invalid"},
		{"0 a", 2, "Configuration file f invalid, no record for task id 1"},
		{"0 a\n0 b", 1, "task 0 has a program already\nLine 2 of configuration file f invalid"},
		{"0", 1, "it has no program\nLine 1 of configuration file f invalid"},
		{"x a", 1, "Line 1 of configuration file f invalid"},
		{`0 "a`, 1, "it ends within a quotation\nLine 1 of configuration file f invalid"},
		{"", 1, "no record for task id 0"},
	} {
		programs, err := tasks.Programs("f", strings.NewReader(c.text), c.tasks)
		got := fmt.Sprint(programs)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.HasSuffix(got, c.want) {
			t.Errorf("%q of %d: %s, want %s", c.text, c.tasks, got, c.want)
		}
	}
}

func FuzzPrograms(f *testing.F) {
	f.Add("0 a %t %o\n1-2 b\n* 'c d' \\x # e\n", 4)
	f.Fuzz(func(t *testing.T, text string, count int) {
		if count < 1 || count > 64 {
			return
		}
		programs, err := tasks.Programs("f", strings.NewReader(text), count)
		if err != nil {
			return
		}
		for rank, program := range programs {
			if len(program) == 0 {
				t.Errorf("task %d of %q has no program", rank, text)
			}
		}
	})
}
