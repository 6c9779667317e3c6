#!/bin/bash
# What srun prints in a job, and its exit codes. Each command line is run by step, and its output is sorted.
# shellcheck disable=SC2016 # tasks expand variables
PATH=${PATH##*:}:$PATH # the commands of Switchyard are the last in it
cd "$(mktemp -d)" || exit
step() {
	printf '\n$ %s\n' "$*"
	LC_ALL=C "$@" >.out 2>&1 </dev/stdin
	code=$?
	LC_ALL=C sort .out
	echo "= $code"
}
where='echo $SLURM_PROCID of $SLURM_NTASKS $SLURM_NPROCS, $SLURM_LOCALID on $SLURM_NODEID of $SLURM_NNODES $SLURM_STEP_NUM_NODES: $SLURM_TASKS_PER_NODE $SLURM_STEP_TASKS_PER_NODE, $SLURM_GTIDS, step $SLURM_STEP_ID $SLURM_STEPID, each $SLURM_CPUS_PER_TASK'

if [ "$SLURM_JOB_NUM_NODES" = 2 ]; then
	step srun sh -c "$where"
	step srun -n 2 sh -c "$where"
	step srun -n 3 sh -c "$where"
	step srun -n 1 sh -c "$where"
	step srun -N 1 -n 2 sh -c "$where"
	step srun -N 1 -n 3 true
	step srun -N 1 sh -c "$where"
	step srun -N 3 -n 4 true
	step srun -N 3 -n 1 true
	step srun -N 1-2 -n 2 sh -c "$where"
	step srun --nodes=2 --ntasks=2 --cpus-per-task=2 sh -c "$where"
	step srun -n 6 -O sh -c "$where"
	step srun -N 1 -n 1 --exact sh -c "$where"
	step srun --ntasks-per-node=1 -n 2 sh -c "$where"
	step srun --ntasks-per-node=1 sh -c "$where"
	exit
fi

# As the first: right after another step Slurm has no memory left for it.
step srun -n 2 --overlap sh -c "$where"
step srun sh -c "$where"
step srun -n 2 sh -c "$where"
step srun -n 1 -c 2 sh -c "$where"
step srun -c 2 true
step srun -n 5 true
step srun -n 5 --overcommit sh -c "$where"
step srun -n 2 --exclusive sh -c "$where"
step srun -n 1 -N 2 true
step srun -l -n 2 sh -c 'echo out; echo err >&2'
step srun -l -n 11 -O echo labelled
SLURM_LABELIO=1 step srun -n 2 echo labelled
SLURM_NTASKS=1 step srun sh -c "$where"
SRUN_CPUS_PER_TASK=2 step srun -n 2 sh -c "$where"
step srun -n 2 sh -c 'exit $SLURM_PROCID'
step srun -n 4 sh -c 'exit $((SLURM_PROCID * 20))'
step srun -n 1 sh -c 'kill -9 $$'
step srun -n 2 sh -c 'kill -11 $$'
step srun -n 2 sh -c 'kill -15 $$'
step srun -Q -n 1 false
step srun -n 3 -K sh -c '[ $SLURM_PROCID != 1 ] || exit 7; sleep 100'
step srun -n 3 --kill-on-bad-exit=0 sh -c '[ $SLURM_PROCID != 1 ] || exit 7'
step srun -n 1 no-such-program
step srun -n 1 /etc/passwd
step srun -n 1 /nonexistent/program
step srun -n 2 -o out-%t-%s.txt sh -c 'echo out $SLURM_PROCID; echo err $SLURM_PROCID >&2'
step head out-*
step srun -n 1 -o both sh -c 'echo out; echo err >&2'
step cat both
step srun -n 1 -o out -e err sh -c 'echo out; echo err >&2'
step cat out err
step srun -n 2 -e err-%2t sh -c 'echo out; echo err >&2'
step cat err-00 err-01
step srun -n 2 -o none sh -c 'echo out; echo err >&2'
step srun -n 2 -o 1 sh -c 'echo out $SLURM_PROCID; echo err >&2'
step srun -n 1 --open-mode=append -o appended echo first
step srun -n 1 --open-mode=append -o appended echo second
step cat appended
step srun -n 1 -o appended echo third
step cat appended
echo hello | step srun -n 2 cat
echo hello | step srun -n 1 cat
echo hello | step srun -n 2 -i none cat
echo hello | step srun -n 2 -i 1 cat
echo from a file >in
step srun -n 2 -i in cat
step srun -D / -n 1 pwd
step srun --chdir=/usr -n 1 pwd
A=1 step srun -n 1 --export=NONE /bin/sh -c 'echo ${A-none} ${SLURM_JOB_ID:+in a job}'
A=1 B=2 step srun -n 1 --export=A /bin/sh -c 'echo ${A-none} ${B-none}'
A=1 B=2 step srun -n 1 --export=A=3,C=4 /bin/sh -c 'echo ${A-none} ${B-none} ${C-none}'
B=2 step srun -n 1 --export=ALL,A=3 sh -c 'echo ${A-none} ${B-none}'
A=1 SLURM_EXPORT_ENV=NONE step srun -n 1 /bin/sh -c 'echo ${A-none}'
step srun -n 1 --export=NONE sh -c true
printf '%s\n' '# a comment' '0 echo first %t %o' '1-2 echo other %t %o' "3 sh -c 'echo \"quoted %t\"'" >programs
step srun -n 4 -l --multi-prog programs
step srun -n 2 --multi-prog programs
step srun -n 5 -O --multi-prog programs
step srun -n 1 -J name -p any -A any -q any true
step srun -n 1 --jobid="$SLURM_JOB_ID" true
step srun -n 1 --mpi=none --kill-on-bad-exit=1 true
step srun --no-such-option true
step srun -n
step srun -n 0 true
step srun -n x true
step srun
step srun -n 1
step srun -n 1 sh -c 'read -r x <&0; echo "$x."'
