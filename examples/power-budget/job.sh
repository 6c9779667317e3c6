#!/bin/sh
#SBATCH --job-name=small --ntasks=2 --time=5 --output=small-%j.out
echo "job $SLURM_JOB_ID runs at $SWITCHYARD_EXEC_SITE"
sleep 30
