#!/bin/bash
# GPUs of each node and CPUs for each of them.
#SBATCH -N 1 --gpus-per-node=2 --cpus-per-gpu=2
echo "$SLURM_CPUS_ON_NODE CPUs"
env | grep GPU | sort
scontrol show job -o $SLURM_JOB_ID | grep -o 'TresPer[^ ]*=[^ ]*\|gres/[^ ]*'
