#!/bin/bash
#SBATCH --job-name=hello
#SBATCH --ntasks=4
#SBATCH --time=00:05:00
#SBATCH --output=hello-%j.out

echo "job $SLURM_JOB_ID runs on $(hostname) as $(id -un), in $PWD"
for i in 1 2 3 4 5; do
	echo "step $i"
	sleep 2
done
