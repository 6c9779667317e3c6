#!/bin/bash
# All that Slurm says of the job, as mpirun reads it.
#SBATCH -N1 --ntasks-per-node=2 -c2
#SBATCH -t 10 -o environment.txt
env | grep ^SLURM | sort
