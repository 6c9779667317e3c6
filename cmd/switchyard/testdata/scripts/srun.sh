#!/bin/bash
# Steps with srun, on two nodes and on one.
#SBATCH -N 2 -n 4
srun -l sh -c 'echo task $SLURM_PROCID of $SLURM_NTASKS' | sort
srun -n 1 -N 1 --exact sh -c 'echo step $SLURM_STEP_ID on $SLURM_STEP_NUM_NODES node' 
srun -n 2 -N 1 false || echo "srun ended with $?"
