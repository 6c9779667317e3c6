#!/bin/bash
# Where tasks are placed.
#SBATCH -n 2 --ntasks-per-core=1 --distribution=block:block --hint=nomultithread
echo ran
