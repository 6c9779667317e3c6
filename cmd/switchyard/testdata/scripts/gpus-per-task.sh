#!/bin/bash
# GPUs of each task.
#SBATCH -n 2 --gpus-per-task=1
env | grep GPU | sort
srun sh -c 'env | grep GPUS' | sort
