#!/bin/bash
# One GPU of a node.
#SBATCH --gres=gpu:1
env | grep GPU | sort
scontrol show job -o $SLURM_JOB_ID | grep -o 'TresPerNode=[^ ]*\|gres/[^ ]*'
