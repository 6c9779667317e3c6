#!/bin/bash
# More nodes than there are.
#SBATCH -N 50
echo ran
