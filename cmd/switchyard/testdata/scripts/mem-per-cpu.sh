#!/bin/bash
# Memory for each CPU.
#SBATCH -n 2 --mem-per-cpu=300M
env | grep ^SLURM_MEM
scontrol show job -o $SLURM_JOB_ID | grep -o 'mem=[^,]*'
