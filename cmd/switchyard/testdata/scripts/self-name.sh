#!/bin/bash
# Reads its own file.
#SBATCH -J self
grep -c SBATCH $0
