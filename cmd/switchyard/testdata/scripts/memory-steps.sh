#!/bin/bash
# Steps beside each other, each with its memory.
#SBATCH -N 1 -n 2 --mem-per-cpu=300M
meet='touch step.$SLURM_STEP_ID; n=0; until [ -e step.0 -a -e step.1 ] || [ $n = 30 ]; do sleep .1; n=$((n+1)); done; [ $n -lt 30 ] && echo met'
srun -n 1 --exact sh -c "$meet" &
srun -n 1 --exact sh -c "$meet" &
wait
