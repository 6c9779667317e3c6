#!/bin/bash
# All that Slurm says to a task that srun starts.
#SBATCH -N2 --ntasks-per-node=2 -c2
#SBATCH -t 10 -o environment.txt
srun sh -c '[ $SLURM_PROCID != 3 ] || env | grep ^SLURM' | sort
