#!/bin/bash
# Makes a list of its nodes for mpirun.
#SBATCH -N 2 --ntasks-per-node=3
scontrol show hostnames "$SLURM_JOB_NODELIST" >hosts.txt
srun -n $SLURM_JOB_NUM_NODES --ntasks-per-node=1 hostname | wc -l
echo "$SLURM_TASKS_PER_NODE"
