#!/bin/bash
# May be started again by Slurm.
#SBATCH --requeue
scontrol show job -o $SLURM_JOB_ID | grep -o 'Requeue=[^ ]*'
