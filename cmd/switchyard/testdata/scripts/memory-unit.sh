#!/bin/bash
# Memory with a unit of two letters.
#SBATCH --mem=1GB
scontrol show job -o $SLURM_JOB_ID | grep -o 'mem=[^,]*'
