package tasks

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FileVariable is the variable of a job's environment that names the file of its steps.
const FileVariable = "SWITCHYARD_STEPS"

// maxCPUs bounds the CPUs of a job, and so the bytes that are locked.
const maxCPUs = 1 << 20

// Allocation is what a job has been given.
type Allocation struct {
	Job  string // its ID
	Host string // the name of its nodes, which are all this machine
	CPUs []int  // of each node
	File string // of its steps
}

// AllocationOf reads the environment of a job.
func AllocationOf(getenv func(string) string) (Allocation, error) {
	a := Allocation{Job: getenv("SLURM_JOB_ID"), Host: getenv("SLURMD_NODENAME"), File: getenv(FileVariable)}
	if a.Host == "" {
		a.Host = "localhost"
	}
	if a.Job == "" || a.File == "" {
		return Allocation{}, errors.New("SLURM_JOB_ID and " + FileVariable + " are not both set in the environment")
	}
	var err error
	if a.CPUs, err = parsePerNode(getenv("SLURM_JOB_CPUS_PER_NODE")); err != nil {
		return Allocation{}, fmt.Errorf("SLURM_JOB_CPUS_PER_NODE: %w", err)
	}
	return a, nil
}

// PerNode prints numbers of nodes as Slurm does: 3,2(x2).
func PerNode(numbers []int) string {
	var out []string
	for i := 0; i < len(numbers); {
		same := 1
		for i+same < len(numbers) && numbers[i+same] == numbers[i] {
			same++
		}
		text := strconv.Itoa(numbers[i])
		if same > 1 {
			text += "(x" + strconv.Itoa(same) + ")"
		}
		out = append(out, text)
		i += same
	}
	return strings.Join(out, ",")
}

// parsePerNode reads what PerNode prints. Each number is at least 1.
func parsePerNode(text string) (numbers []int, err error) {
	sum := 0
	for part := range strings.SplitSeq(text, ",") {
		number, times, repeated := strings.Cut(part, "(x")
		n, err := strconv.Atoi(number)
		count := 1
		if repeated && err == nil {
			inner, closed := strings.CutSuffix(times, ")")
			if count, err = strconv.Atoi(inner); err == nil && !closed {
				err = strconv.ErrSyntax
			}
		}
		if err != nil || n < 1 || count < 1 || n > maxCPUs || count > maxCPUs {
			return nil, fmt.Errorf("%q are no numbers of nodes, such as 3,2(x2)", text)
		}
		if sum += n * count; sum > maxCPUs {
			return nil, fmt.Errorf("%q are more than %d CPUs", text, maxCPUs)
		}
		numbers = append(numbers, slices.Repeat([]int{n}, count)...)
	}
	return numbers, nil
}
