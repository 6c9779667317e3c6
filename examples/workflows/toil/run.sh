#!/bin/sh
# Without --maxLocalJobs Toil has as many jobs at once as this machine has CPUs, and without --statePollingWait it asks for
# their states every 36 seconds. Its own log shows what a step that fails has written.
TOIL_SLURM_ARGS='--ntasks=1 --time=10' exec python3 primes.py file:jobstore --batchSystem slurm --noStdOutErr \
	--maxLocalJobs 20 --statePollingWait 1 --defaultMemory 100M --defaultDisk 100M --retryCount 0
