#!/bin/bash
# GPUs of the job.
#SBATCH --gpus=1 --mem-per-gpu=400M
env | grep 'GPU\|SLURM_MEM' | sort
scontrol show job -o $SLURM_JOB_ID | grep -o 'mem=[^,]*\|gres/[^ ]*'
