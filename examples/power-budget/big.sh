#!/bin/sh
#SBATCH --job-name=big --ntasks=4 --time=5 --output=big-%j.out
echo "job $SLURM_JOB_ID runs at $SWITCHYARD_EXEC_SITE"
sleep 10
