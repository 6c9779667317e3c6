#!/bin/bash
# Finds itself with squeue, by user and by name.
#SBATCH -J findme
squeue -h -u $(id -un) -o '%A' | grep -x $SLURM_JOB_ID
squeue -h -n findme -o '%j' | sort -u
