#!/bin/bash
# Looks at itself with scontrol.
#SBATCH -J look -n 2 --comment=hello
scontrol show job $SLURM_JOB_ID | grep -o '\(JobName\|UserId\|NumCPUs\|Comment\|Command\|WorkDir\|StdOut\|StdErr\)=[^ ]*'
