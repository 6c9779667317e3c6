#!/bin/bash
# Nodes with a feature.
#SBATCH -C skylake
scontrol show job -o $SLURM_JOB_ID | grep -o 'Features=[^ ]*'
