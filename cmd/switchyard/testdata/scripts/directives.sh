#!/bin/bash
# Directives in all their forms.
#SBATCH --job-name="two words" --comment 'why not'   # a remark
#SBATCH   -n2 --mem 500M
##SBATCH -n 7
#SBATCH --time=1:00 -c1
# SBATCH -n 8
echo "$SLURM_JOB_NAME: n=$SLURM_NTASKS"
#SBATCH -n 9
scontrol show job -o $SLURM_JOB_ID | grep -o 'TimeLimit=[^ ]*\|mem=[^,]*'
