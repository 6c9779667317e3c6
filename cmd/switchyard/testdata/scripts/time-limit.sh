#!/bin/bash
# Shortens its time limit while it runs.
#SBATCH -t 30
scontrol update JobId=$SLURM_JOB_ID TimeLimit=20
scontrol show job -o $SLURM_JOB_ID | grep -o 'TimeLimit=[^ ]*'
