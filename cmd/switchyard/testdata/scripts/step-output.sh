#!/bin/bash
# A step that writes its own file twice.
#SBATCH -n 1
srun -o step.txt echo one
srun -o step.txt echo two
