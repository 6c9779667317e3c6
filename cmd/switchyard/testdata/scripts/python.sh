#!/usr/bin/env python3
# A program in Python.
#SBATCH --ntasks=2 --cpus-per-task=2 --time=00:05:00
import os, sys
print(int(os.environ["SLURM_NTASKS"]) * int(os.environ["SLURM_CPUS_PER_TASK"]), "CPUs")
print("argument:", sys.argv[1:], file=sys.stderr)
