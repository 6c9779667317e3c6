#!/bin/bash
# Cancels itself.
#SBATCH -t 10
scancel $SLURM_JOB_ID
sleep 300
