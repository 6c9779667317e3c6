#!/bin/bash
# Two components with different needs.
#SBATCH -n 1 --mem=200M
#SBATCH hetjob
#SBATCH -n 2
srun --het-group=0,1 echo task
