#!/bin/bash
# Steps beside each other, each with a GPU.
#SBATCH -N 1 -n 2 --gres=gpu:2
for i in 1 2
do srun -n 1 --exact --gres=gpu:1 sh -c 'echo $SLURM_STEP_GPUS | wc -w' &
done
wait
