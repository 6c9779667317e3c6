#!/bin/bash
# Between one node and two.
#SBATCH -N 1-2 -n 4
echo "$SLURM_NTASKS tasks"
