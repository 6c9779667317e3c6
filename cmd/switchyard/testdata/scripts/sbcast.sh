#!/bin/bash
# Copies a file to its node.
#SBATCH -N 1
sbcast -f input.dat /tmp/cast.$SLURM_JOB_ID && srun sh -c 'cat /tmp/cast.$SLURM_JOB_ID; rm -f /tmp/cast.$SLURM_JOB_ID'
