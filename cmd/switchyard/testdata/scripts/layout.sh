#!/bin/bash
# Nodes, tasks on each and CPUs of each task.
#SBATCH -N2 --ntasks-per-node=2 -c2
echo "n=$SLURM_NTASKS tpn=$SLURM_NTASKS_PER_NODE c=$SLURM_CPUS_PER_TASK nodes=$SLURM_JOB_NUM_NODES"
srun hostname | wc -l
