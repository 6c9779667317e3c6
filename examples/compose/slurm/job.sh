#!/bin/sh
#SBATCH --nodes=2 --ntasks=2 --time=0:10:00
#SBATCH --output=%x.out
# job.sh CODE: says where it runs, on all nodes that Slurm gave it, and exits with the code.
echo "$SWITCHYARD_EXEC_SITE $(id -un)"
srun --label hostname | sort
exit "$1"
